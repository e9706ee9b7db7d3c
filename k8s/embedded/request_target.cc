#include "k8s/embedded/request_target.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace gpubinder::embedded {
namespace {

std::optional<std::string> Decoded(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const auto hex = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return -1;
      };
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex(text[i + 1]), low = hex(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

}  // namespace

std::string RequestTarget::Query(const std::string& name) const {
  const auto it = query.find(name);
  return it == query.end() ? std::string() : it->second;
}

bool RequestTarget::Says(const std::string& name) const {
  const std::string value = Query(name);
  return value == "true" || value == "1";
}

std::optional<RequestTarget> ParseTarget(absl::string_view target) {
  if (target.empty() || target[0] != '/') return std::nullopt;
  RequestTarget out;
  const size_t mark = target.find('?');
  const absl::string_view path = target.substr(0, mark);
  for (absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    std::optional<std::string> decoded = Decoded(part);
    if (!decoded.has_value()) return std::nullopt;
    out.path.push_back(*std::move(decoded));
  }
  if (mark == absl::string_view::npos) return out;
  for (absl::string_view pair :
       absl::StrSplit(target.substr(mark + 1), '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    std::optional<std::string> name = Decoded(parts.first);
    std::optional<std::string> value = Decoded(parts.second);
    if (!name.has_value() || !value.has_value()) return std::nullopt;
    out.query[*std::move(name)] = *std::move(value);
  }
  return out;
}

std::optional<ObjectPlace> PlaceOf(const RequestTarget& target) {
  const std::vector<std::string>& path = target.path;
  std::string group, version;
  size_t at = 0;
  if (path.size() >= 3 && path[0] == "api") {
    version = path[1];
    at = 2;
  } else if (path.size() >= 4 && path[0] == "apis") {
    group = path[1];
    version = path[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  ObjectPlace place;
  // /namespaces/NAME/status is the namespace itself; /namespaces/NAME/pods is
  // what is in it.
  if (path[at] == "namespaces" && path.size() > at + 2 &&
      path[at + 2] != "status" && path[at + 2] != "finalize") {
    place.name_space = path[at + 1];
    at += 2;
  }
  place.resource = FindResource(group, version, path[at]);
  if (place.resource == nullptr || path.size() > at + 3) return std::nullopt;
  if (!place.name_space.empty() && !place.resource->namespaced) {
    return std::nullopt;
  }
  if (path.size() > at + 1) place.name = path[at + 1];
  if (path.size() > at + 2) place.subresource = path[at + 2];
  return place;
}

}  // namespace gpubinder::embedded
