// Saying no: the problems of a request, gathered into one answer.

#ifndef WEBHOOK_REFUSAL_H_
#define WEBHOOK_REFUSAL_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"
#include "webhook/admission_review.h"

namespace gpubinder {

struct Problem {
  // REASON_UNSPECIFIED: of a field of the object itself, said as Invalid.
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  std::string text;  // whole: where, what was found, what is legal
};

// The answer that refuses for all of `problems`, of which there is at least
// one. Its reason is the first by the order of the closed list; the message
// has every problem with its own reason, at most 1,024 bytes. 403 where it is
// a matter of leave (NotEntitled, FeatureDisabled), else 422.
ReviewAnswer Refuse(const std::vector<Problem>& problems);

// A name or a value in quotes, made printable and cut to 64 bytes.
std::string Quoted(absl::string_view text);

// At most `size` bytes of `text`, cut before a character and marked.
std::string CutTo(absl::string_view text, size_t size);

}  // namespace gpubinder

#endif  // WEBHOOK_REFUSAL_H_
