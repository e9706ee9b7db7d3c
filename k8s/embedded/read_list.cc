#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/read.h"
#include "k8s/embedded/selectors.h"
#include "k8s/embedded/table_print.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

// Where a page begins and what snapshot it is of.
struct Page {
  uint64_t revision = 0;  // 0: now
  std::string after_namespace, after_name;
  size_t limit = 0;  // 0: all
};

std::string ContinueToken(const Page& page) {
  return absl::WebSafeBase64Escape(
      DumpJson({{"v", "meta.k8s.io/v1"},
                {"rv", page.revision},
                {"namespace", page.after_namespace},
                {"name", page.after_name}}));
}

std::optional<Page> ReadToken(const std::string& token) {
  std::string text;
  if (!absl::WebSafeBase64Unescape(token, &text)) return std::nullopt;
  const absl::StatusOr<Json> parsed = ParseJson(text);
  if (!parsed.ok() || TextAt(*parsed, {"v"}) != "meta.k8s.io/v1") {
    return std::nullopt;
  }
  Page page;
  page.revision = static_cast<uint64_t>(NumberAt(*parsed, {"rv"}, 0));
  page.after_namespace = TextAt(*parsed, {"namespace"});
  page.after_name = TextAt(*parsed, {"name"});
  return page;
}

ApiFailure TooLarge(uint64_t wanted, uint64_t current) {
  ApiFailure failure =
      PlainFailure(504, "Timeout",
                   absl::StrCat("Timeout: Too large resource version: ", wanted,
                                ", current: ", current));
  failure.causes.push_back(
      {"", "ResourceVersionTooLarge", "Too large resource version"});
  failure.retry_after_seconds = 1;
  failure.with_details = true;
  return failure;
}

ApiFailure Expired(absl::string_view message) {
  return PlainFailure(410, "Expired", message);
}

// The page that the query asks for, of the snapshot that it asks for.
std::optional<ApiFailure> ReadPage(const RequestTarget& target,
                                   const Store& store, Page& page) {
  int64_t limit = 0;
  const std::string limit_text = target.Query("limit");
  if (!limit_text.empty() && !absl::SimpleAtoi(limit_text, &limit)) {
    return BadRequest(absl::StrCat("strconv.ParseInt: parsing \"", limit_text,
                                   "\": invalid syntax"));
  }
  const std::string token = target.Query("continue");
  const std::string version = target.Query("resourceVersion");
  if (!token.empty()) {
    const std::optional<Page> read = ReadToken(token);
    if (!read.has_value()) {
      return BadRequest("continue key is not valid: illegal base64 data");
    }
    page = *read;
  } else if (!version.empty() && version != "0") {
    uint64_t wanted = 0;
    if (!absl::SimpleAtoi(version, &wanted)) {
      return BadRequest(absl::StrCat(
          "invalid resource version: resourceVersion: Invalid value: \"",
          version, "\": strconv.ParseUint: parsing \"", version,
          "\": invalid syntax"));
    }
    if (wanted > store.revision()) return TooLarge(wanted, store.revision());
    const std::string match = target.Query("resourceVersionMatch");
    // The legacy rule: with a limit and no match, the version is exact.
    const bool exact = match == "Exact" || (match.empty() && limit > 0);
    if (exact) page.revision = wanted;
  }
  // RV=0 comes from the cache, which knows no pages.
  const bool paged = limit > 0 && !(version == "0" && token.empty());
  page.limit = paged ? static_cast<size_t>(limit) : 0;
  return std::nullopt;
}

bool IsAfter(const Json& object, const Page& page) {
  if (page.after_name.empty()) return true;
  const std::string name_space = TextAt(object, {"metadata", "namespace"});
  const std::string name = TextAt(object, {"metadata", "name"});
  return std::tie(name_space, name) >
         std::tie(page.after_namespace, page.after_name);
}

struct PageResult {
  std::vector<JsonPtr> items;
  Json metadata = Json::object();
};

PageResult TakePage(const std::vector<JsonPtr>& all, const Selector& selector,
                    const Page& page, uint64_t revision) {
  PageResult result;
  result.metadata["resourceVersion"] = absl::StrCat(revision);
  size_t rest = 0;
  for (const JsonPtr& object : all) {
    if (!IsAfter(*object, page) || !selector.Matches(*object)) continue;
    if (page.limit > 0 && result.items.size() == page.limit) {
      ++rest;
    } else {
      result.items.push_back(object);
    }
  }
  if (rest > 0) {
    const Json& last = *result.items.back();
    result.metadata["continue"] =
        ContinueToken({revision, TextAt(last, {"metadata", "namespace"}),
                       TextAt(last, {"metadata", "name"}), 0});
    if (selector.empty()) result.metadata["remainingItemCount"] = rest;
  }
  return result;
}

std::string ListText(const Resource& resource, const PageResult& page) {
  std::string body =
      absl::StrCat("{\"kind\":\"", resource.kind, "List\",\"apiVersion\":\"",
                   resource.GroupVersion(),
                   "\",\"metadata\":", DumpJson(page.metadata), ",\"items\":[");
  bool first = true;
  for (const JsonPtr& object : page.items) {
    if (!std::exchange(first, false)) body.push_back(',');
    if (resource.is_custom) {
      body += DumpJson(*object);
    } else {
      // Items of built-in lists come without their type.
      Json item = *object;
      item.erase("kind");
      item.erase("apiVersion");
      body += DumpJson(item);
    }
  }
  return body + "]}\n";
}

ApiFailure BadOptions(FieldErrors errors) {
  const Resource options = {.group = "meta.k8s.io", .kind = "ListOptions"};
  return InvalidFailure(options, "", std::move(errors));
}

}  // namespace

std::optional<ApiFailure> CheckReadQuery(const ObjectPlace& place,
                                         const RequestTarget& target,
                                         Selector& selector) {
  absl::StatusOr<Selector> parsed =
      ParseSelector(*place.resource, target.Query("labelSelector"),
                    target.Query("fieldSelector"));
  if (!parsed.ok()) return BadRequest(std::string(parsed.status().message()));
  selector = *std::move(parsed);
  const std::string match = target.Query("resourceVersionMatch");
  const std::string version = target.Query("resourceVersion");
  const bool watch = target.Says("watch");
  const bool initial = !target.Query("sendInitialEvents").empty();
  const char kMatch[] = "resourceVersionMatch";
  FieldErrors errors;
  if (watch && initial && match != "NotOlderThan") {
    errors.push_back(Forbidden(kMatch,
                               "sendInitialEvents requires setting "
                               "resourceVersionMatch to NotOlderThan"));
  } else if (watch && !initial && !match.empty()) {
    errors.push_back(Forbidden(kMatch,
                               "resourceVersionMatch is forbidden for watch "
                               "unless sendInitialEvents is provided"));
  } else if (!watch && !match.empty()) {
    if (version.empty()) {
      errors.push_back(Forbidden(
          kMatch,
          "resourceVersionMatch is forbidden unless resourceVersion is "
          "provided"));
    } else if (!target.Query("continue").empty()) {
      errors.push_back(
          Forbidden(kMatch,
                    "resourceVersionMatch is forbidden when continue is "
                    "provided"));
    } else if (match == "Exact" && version == "0") {
      errors.push_back(Forbidden(kMatch,
                                 "resourceVersionMatch \"exact\" is forbidden "
                                 "for resourceVersion \"0\""));
    }
  }
  if (!watch && initial) {
    errors.push_back(Forbidden("sendInitialEvents",
                               "sendInitialEvents is forbidden for list"));
  }
  if (errors.empty()) return std::nullopt;
  return BadOptions(std::move(errors));
}

ApiResponse FailureResponse(const ApiFailure& failure) {
  ApiResponse response;
  response.code = failure.code;
  response.body = DumpJson(StatusObject(failure)) + "\n";
  response.retry_after_seconds = failure.retry_after_seconds;
  return response;
}

ApiResponse ObjectResponse(Backend& backend, const ObjectPlace& place,
                           const RequestTarget& target, Form form,
                           const JsonPtr& object) {
  ApiResponse response;
  if (form == Form::kTable && TextAt(*object, {"kind"}) != "Status") {
    Json table = TableOf(*place.resource, {object},
                         {backend.clock(), target.Query("includeObject")});
    table["metadata"]["resourceVersion"] =
        At(*object, {"metadata", "resourceVersion"});
    response.body = DumpJson(table) + "\n";
  } else {
    response.body = DumpJson(*object) + "\n";
  }
  return response;
}

ApiAnswer ListObjects(Backend& backend, const ObjectPlace& place,
                      const RequestTarget& target, Form form) {
  const Resource& resource = *place.resource;
  Selector selector;
  if (auto failed = CheckReadQuery(place, target, selector)) {
    return {FailureResponse(*failed), nullptr};
  }
  Page page;
  std::optional<std::vector<JsonPtr>> all;
  uint64_t revision = 0;
  {
    absl::MutexLock lock(&backend.mutex);
    if (auto failed = ReadPage(target, backend.store, page)) {
      return {FailureResponse(*failed), nullptr};
    }
    revision = page.revision == 0 ? backend.store.revision() : page.revision;
    all = backend.store.ListAt(resource.QualifiedPlural(), place.name_space,
                               revision);
    if (!all.has_value() && !target.Query("continue").empty()) {
      // The answer carries a token that goes on at the newest version.
      ApiFailure expired = Expired(
          "The provided continue parameter is too old to display a consistent "
          "list result. You can start a new list without the continue "
          "parameter, or use the continue token in this response to retrieve "
          "the remainder of the results.");
      page.revision = backend.store.revision();
      expired.continue_token = ContinueToken(page);
      return {FailureResponse(expired), nullptr};
    }
  }
  if (!all.has_value()) {
    return {FailureResponse(Expired(
                "The resourceVersion for the provided list is too old.")),
            nullptr};
  }
  const PageResult result = TakePage(*all, selector, page, revision);
  ApiResponse response;
  if (form == Form::kTable) {
    Json table = TableOf(resource, result.items,
                         {backend.clock(), target.Query("includeObject")});
    table["metadata"] = result.metadata;
    response.body = DumpJson(table) + "\n";
  } else {
    response.body = ListText(resource, result);
  }
  return {std::move(response), nullptr};
}

}  // namespace gpubinder::embedded
