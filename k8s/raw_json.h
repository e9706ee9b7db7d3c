// JSON of the API server taken apart without decoding it: what a client and
// a reflector need of an answer, objects staying the bytes they came as.
//
// What is passed over is checked for balanced brackets and quotes and for
// UTF-8, not for more: the object codec decodes it again. Every error is
// kDataLoss. Cost: one scan of the text, about 2 GB/s.

#ifndef K8S_RAW_JSON_H_
#define K8S_RAW_JSON_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "k8s/api_client.h"

namespace gpubinder {

// Whether the text is one valid JSON object and nothing else.
bool IsJsonObject(absl::string_view text);

// Fills reason, message, and if they are there code and retry_after, from a
// Status object. Text of another kind becomes the message, cut to 256 bytes.
void TakeStatusObject(absl::string_view text, ApiError& error);

// An object as it came, with what identifies it.
struct RawObject {
  std::string name_space, name, uid, resource_version;
  std::string json;
};

struct ListPage {
  std::string resource_version;
  std::string continue_token;  // empty: the last page
};
// Calls `on_item` with each item of a List in order. Items before a damaged
// one have been delivered when the error is returned. `page` is taken by
// value because the scanner needs room behind its end.
absl::StatusOr<ListPage> SplitList(
    std::string page, const std::function<void(RawObject)>& on_item);

// One line of a watch. `object` is whole for ADDED, MODIFIED and DELETED;
// BOOKMARK has its resource_version only, ERROR has `error` instead. Other
// types are an error.
struct WatchLine {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  RawObject object;
  ApiError error;
};
absl::StatusOr<WatchLine> ReadWatchLine(absl::string_view line);

}  // namespace gpubinder

#endif  // K8S_RAW_JSON_H_
