// Text of others that goes into a record. A protobuf string that is not UTF-8
// is written without a word and then makes its record unreadable, so whatever
// is cut, or comes from outside unchecked, passes through here first.

#ifndef PROTO_UTF8_H_
#define PROTO_UTF8_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

// `text`, at most `most` bytes of it, cut at a whole character; each byte that
// belongs to no UTF-8 character is a "?".
std::string Utf8Within(absl::string_view text, size_t most);

// The same for every string field of the message and of those in it, whatever
// their length: the last guard before a record is written.
void RepairText(google::protobuf::Message& message);

}  // namespace gpubinder

#endif  // PROTO_UTF8_H_
