#include "k8s/api_call.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"

namespace gpubinder {
namespace {

constexpr char kJson[] = "application/json";

std::string What(absl::string_view verb, const ResourcePath& path) {
  std::string text = absl::StrCat(verb, " ", path.plural);
  if (!path.subresource.empty()) absl::StrAppend(&text, "/", path.subresource);
  if (path.name.empty()) {
    if (!path.name_space.empty()) {
      absl::StrAppend(&text, " in ", path.name_space);
    }
    return text;
  }
  absl::StrAppend(&text, " ", path.name_space,
                  path.name_space.empty() ? "" : "/", path.name);
  return text;
}

void AddQuery(std::string& target, absl::string_view key,
              absl::string_view value) {
  absl::StrAppend(&target, target.find('?') == std::string::npos ? "?" : "&",
                  key, "=", EscapedForUrl(value));
}

void AddSelectors(std::string& target, const std::string& labels,
                  const std::string& fields) {
  if (!labels.empty()) AddQuery(target, "labelSelector", labels);
  if (!fields.empty()) AddQuery(target, "fieldSelector", fields);
}

ApiCall WriteCall(absl::string_view verb, absl::string_view method,
                  const ResourcePath& path, absl::string_view body,
                  absl::Duration timeout) {
  return {.what = What(verb, path),
          .method = std::string(method),
          .target = PathText(path),
          .content_type = kJson,
          .body = std::string(body),
          .timeout = timeout};
}

}  // namespace

ApiCall GetCall(const ResourcePath& path, absl::Duration timeout) {
  return {.what = What("get", path),
          .method = "GET",
          .target = PathText(path),
          .timeout = timeout};
}

ApiCall ListCall(const ResourcePath& path, const ListOptions& options) {
  ApiCall call{.what = What("list", path),
               .method = "GET",
               .target = PathText(path),
               .timeout = options.timeout,
               .shape = ApiCall::Shape::kPage};
  if (options.limit > 0) {
    AddQuery(call.target, "limit", absl::StrCat(options.limit));
  }
  if (!options.continue_token.empty()) {
    AddQuery(call.target, "continue", options.continue_token);
  } else if (!options.resource_version.empty()) {
    AddQuery(call.target, "resourceVersion", options.resource_version);
    // Without it the meaning would hang on whether there is a limit.
    if (options.resource_version != "0") {
      AddQuery(call.target, "resourceVersionMatch", "NotOlderThan");
    }
  }
  AddSelectors(call.target, options.label_selector, options.field_selector);
  return call;
}

ApiCall WatchCall(const ResourcePath& path, const WatchOptions& options) {
  ApiCall call{.what = What("watch", path),
               .method = "GET",
               .target = PathText(path),
               .timeout = options.timeout,
               .shape = ApiCall::Shape::kWatch};
  AddQuery(call.target, "watch", "1");
  AddQuery(call.target, "resourceVersion", options.resource_version);
  if (options.bookmarks) AddQuery(call.target, "allowWatchBookmarks", "true");
  AddQuery(call.target, "timeoutSeconds",
           absl::StrCat(
               std::max<int64_t>(absl::ToInt64Seconds(options.timeout), 1)));
  AddSelectors(call.target, options.label_selector, options.field_selector);
  return call;
}

ApiCall CreateCall(const ResourcePath& path, absl::string_view body,
                   absl::Duration timeout) {
  return WriteCall("create", "POST", path, body, timeout);
}

ApiCall ReplaceCall(const ResourcePath& path, absl::string_view body,
                    absl::Duration timeout) {
  return WriteCall("replace", "PUT", path, body, timeout);
}

ApiCall PatchCall(const ResourcePath& path, PatchType type,
                  absl::string_view body, absl::Duration timeout) {
  ApiCall call = WriteCall("patch", "PATCH", path, body, timeout);
  call.content_type = type == PatchType::kJson ? "application/json-patch+json"
                                               : "application/merge-patch+json";
  return call;
}

ApiCall DeleteCall(const ResourcePath& path, absl::string_view body,
                   absl::Duration timeout) {
  return WriteCall("delete", "DELETE", path, body, timeout);
}

std::string TargetWithin(const ApiCall& call, absl::Duration left) {
  std::string target = call.target;
  if (call.shape != ApiCall::Shape::kWatch) {
    AddQuery(target, "timeout",
             absl::StrCat(absl::ToInt64Milliseconds(left), "ms"));
  }
  return target;
}

}  // namespace gpubinder
