// Lists and watches, with the API server's meaning of resourceVersion.

#ifndef K8S_EMBEDDED_READ_H_
#define K8S_EMBEDDED_READ_H_

#include <optional>

#include "k8s/embedded/api_failure.h"
#include "k8s/embedded/api_message.h"
#include "k8s/embedded/backend.h"
#include "k8s/embedded/request_target.h"
#include "k8s/embedded/selectors.h"
#include "k8s/embedded/write.h"

namespace gpubinder::embedded {

// How the client wants objects written.
enum class Form { kObject, kTable };

// One page of a list.
ApiAnswer ListObjects(Backend& backend, const ObjectPlace& place,
                      const RequestTarget& target, Form form);
// Accepts or refuses a watch. A name in `place` watches one object.
ApiAnswer OpenWatch(Backend& backend, const ObjectPlace& place,
                    const RequestTarget& target, Form form);
// One object, as the client wants it.
ApiResponse ObjectResponse(Backend& backend, const ObjectPlace& place,
                           const RequestTarget& target, Form form,
                           const JsonPtr& object);
ApiResponse FailureResponse(const ApiFailure& failure);

// The common part of list and watch: selectors, and that parameters are legal
// together. `selector` is filled.
std::optional<ApiFailure> CheckReadQuery(const ObjectPlace& place,
                                         const RequestTarget& target,
                                         Selector& selector);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_READ_H_
