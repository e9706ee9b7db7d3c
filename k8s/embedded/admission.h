// Admission as the API server does it: a review out, a JSON patch back in.
//
// The hook stands for the binder's two webhooks. It is called without any
// lock held, so it may use a client of the same server.

#ifndef K8S_EMBEDDED_ADMISSION_H_
#define K8S_EMBEDDED_ADMISSION_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace gpubinder::embedded {

struct AdmissionCall {
  std::string path;    // /mutate-vmi or /mutate-pod
  std::string review;  // an AdmissionReview v1 with `request`, JSON
};

// Answers the AdmissionReview with `response`. An error is a failed call: the
// write is refused with 500, as failurePolicy Fail says.
//
// /mutate-vmi: VirtualMachineInstance CREATE with the claims annotation.
// /mutate-pod: Pod CREATE with the label kubevirt.io=virt-launcher and the
// annotation. Each is called a second time with what the first call and the
// server's own defaulting made of the object (reinvocationPolicy IfNeeded).
using AdmissionHook =
    std::function<absl::StatusOr<std::string>(const AdmissionCall&)>;

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_ADMISSION_H_
