// What numbers of JSON are as text and as int64, and those that the parser
// (json_value.h) cannot hold.

#ifndef K8S_JSON_NUMBERS_H_
#define K8S_JSON_NUMBERS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

// `text` with quotes around each number that neither 64 bits nor a double can
// hold: a text of the same digits. Anyone who may write a field that the server
// keeps unread can send such a number, and the object must not become
// unreadable for it. What is no JSON stays no JSON.
std::string QuoteWideNumbers(absl::string_view text);

// Whether an int64 holds the same number: 2.0 is 2, as the API server has it.
bool IsWhole(double number);

// In its shortest form.
std::string DoubleText(double number);

}  // namespace gpubinder

#endif  // K8S_JSON_NUMBERS_H_
