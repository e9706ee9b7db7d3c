#include "k8s/embedded/api_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gpubinder::embedded {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/t/configmaps";
constexpr char kClaims[] =
    "/apis/gpu.cozystack.io/v1alpha1/namespaces/t/gpuclaims";

std::string On(const char* collection, const char* rest) {
  return absl::StrCat(collection, rest);
}
std::string Map(const char* extra) {
  return absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",", extra,
                      "}");
}
std::string Claim(const char* extra) {
  return absl::StrCat(
      "{\"apiVersion\":\"gpu.cozystack.io/v1alpha1\",\"kind\":"
      "\"GPUClaim\",\"metadata\":{\"name\":\"c\"},",
      extra, "}");
}

const std::string kMap = Map("\"metadata\":{\"name\":\"m\"}");
const std::string kClaim = Claim("\"spec\":{\"className\":\"h100\"}");
const std::string kHeld =
    Map("\"metadata\":{\"name\":\"m\",\"finalizers\":[\"a.b/c\"]}");

std::vector<Rule> CreateRules() {
  return {
      {"create: 201", {}, {"POST", kMaps, kMap}, 201, {"\"uid\":\""}},
      {"ST-2 create twice",
       {{"POST", kMaps, kMap}},
       {"POST", kMaps, kMap},
       409,
       {"\"AlreadyExists\"", "configmaps \\\"m\\\" already exists"}},
      {"ST-2 create over one that is being deleted",
       {{"POST", kMaps, kHeld}, {"DELETE", On(kMaps, "/m")}},
       {"POST", kMaps, kMap},
       409,
       {"object is being deleted: configmaps \\\"m\\\" already exists"}},
      {"create in no namespace",
       {},
       {"POST", "/api/v1/namespaces/nope/configmaps", kMap},
       404,
       {"namespaces \\\"nope\\\" not found"}},
      {"create with a resourceVersion",
       {},
       {"POST", kMaps,
        Map("\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"5\"}")},
       500,
       {"resourceVersion should not be set on objects to be created"}},
  };
}

std::vector<Rule> RefusedCreateRules() {
  return {
      {"create without a name",
       {},
       {"POST", kMaps, Map("\"metadata\":{}")},
       422,
       {"ConfigMap \\\"\\\" is invalid: metadata.name: Required value: name or "
        "generateName is required"}},
      {"create with a bad name",
       {},
       {"POST", kMaps, Map("\"metadata\":{\"name\":\"A_b\"}")},
       422,
       {"metadata.name: Invalid value: \\\"A_b\\\": a lowercase RFC 1123 "
        "subdomain"}},
      {"create with another kind",
       {},
       {"POST", kMaps, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"},
       400,
       {"Pod in version \\\"v1\\\" cannot be handled as a ConfigMap"}},
      {"create with another namespace",
       {},
       {"POST", kMaps,
        Map("\"metadata\":{\"name\":\"m\",\"namespace\":\"z\"}")},
       400,
       {"the namespace of the provided object does not match the namespace "
        "sent on the request"}},
      {"create of what is no JSON", {}, {"POST", kMaps, "{\"a\":"}, 400, {}},
      {"create of what is nested too deep",
       {},
       {"POST", kMaps, std::string(100000, '[')},
       400,
       {}},
      {"create of another media type",
       {},
       {"POST", kMaps, "x", "text/plain"},
       415,
       {"UnsupportedMediaType"}},
      {"a kind that is not served: plain text",
       {},
       {"GET", "/apis/foo/v1/x"},
       404,
       {"404 page not found"}},
  };
}

std::vector<Rule> PutRules() {
  return {
      {"PUT to the collection", {}, {"PUT", kMaps, kMap}, 405, {}},
      {"OC-1 PUT with a stale version",
       {{"POST", kMaps, kMap}},
       {"PUT", On(kMaps, "/m"),
        Map("\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"1\"}")},
       409,
       {"\"Conflict\"",
        "Operation cannot be fulfilled on configmaps \\\"m\\\": the object has "
        "been modified; please apply your changes to the latest version and "
        "try again"}},
      {"OC-2 PUT of a built-in kind without a version",
       {{"POST", kMaps, kMap}},
       {"PUT", On(kMaps, "/m"),
        Map("\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"b\"}")},
       200,
       {"\"a\":\"b\""}},
      {"OC-2 PUT of a custom resource without a version",
       {{"POST", kClaims, kClaim}},
       {"PUT", On(kClaims, "/c"), kClaim},
       422,
       {"metadata.resourceVersion: Invalid value: 0: must be specified for an "
        "update"}},
      {"OC-3 PUT with another uid",
       {{"POST", kMaps, kMap}},
       {"PUT", On(kMaps, "/m"),
        Map("\"metadata\":{\"name\":\"m\",\"uid\":\"x\"}")},
       409,
       {"Precondition failed: UID in precondition: x"}},
      {"PUT to what is not there",
       {},
       {"PUT", On(kMaps, "/m"), kMap},
       404,
       {"configmaps \\\"m\\\" not found"}},
      {"PUT under another name",
       {{"POST", kMaps, kMap}},
       {"PUT", On(kMaps, "/m"), Map("\"metadata\":{\"name\":\"z\"}")},
       400,
       {"the name of the object (z) does not match the name on the URL (m)"}},
  };
}

std::vector<Rule> PatchRules() {
  return {
      {"OC-3 patch with another uid",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"), "{\"metadata\":{\"uid\":\"x\"}}", "merge"},
       422,
       {"metadata.uid: Invalid value: \\\"x\\\": field is immutable"}},
      {"3.1 merge patch with a stale version",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"),
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"a\":\"b\"}}",
        "merge"},
       409,
       {"the object has been modified"}},
      {"3.1 JSON Patch with a failed test",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"),
        "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":"
        "\"1\"}]",
        "patch"},
       422,
       {"the server rejected our request due to an error in our request"}},
      {"3.1 JSON Patch that replaces a stale version",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"),
        "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\","
        "\"value\":\"1\"},{\"op\":\"add\",\"path\":\"/data\",\"value\":{}}]",
        "patch"},
       409,
       {"\"Conflict\""}},
      {"PA-3 a patch that is no patch",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"), "{\"op\":\"add\"}", "patch"},
       400,
       {"error decoding patch"}},
      {"PA-1 strategic patch of a custom resource",
       {{"POST", kClaims, kClaim}},
       {"PATCH", On(kClaims, "/c"), "{}", "strategic"},
       415,
       {}},
      {"patch of no known type",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"), "{}", "json"},
       415,
       {"415: Unsupported Media Type"}},
  };
}

std::vector<Rule> DeleteRules() {
  return {
      {"DE-2 delete with another uid",
       {{"POST", kMaps, kMap}},
       {"DELETE", On(kMaps, "/m"), "{\"preconditions\":{\"uid\":\"x\"}}"},
       409,
       {"Operation cannot be fulfilled on ConfigMap \\\"m\\\": the UID in the "
        "precondition (x) does not match the UID in record ("}},
      {"DE-2 delete with another version",
       {{"POST", kMaps, kMap}},
       {"DELETE", On(kMaps, "/m"),
        "{\"preconditions\":{\"resourceVersion\":\"1\"}}"},
       409,
       {"the ResourceVersion in the precondition (1) does not match the "
        "ResourceVersion in record ("}},
      {"DE-3 delete tells the uid",
       {{"POST", kMaps, kMap}},
       {"DELETE", On(kMaps, "/m")},
       200,
       {"\"status\":\"Success\"", "\"kind\":\"configmaps\""}},
      {"DE-4 gone is gone",
       {{"POST", kMaps, kMap}, {"DELETE", On(kMaps, "/m")}},
       {"DELETE", On(kMaps, "/m")},
       404,
       {}},
  };
}

std::vector<Rule> FinalizerRules() {
  return {
      {"FZ-1 a finalizer keeps it",
       {{"POST", kMaps, kHeld}, {"DELETE", On(kMaps, "/m")}},
       {"GET", On(kMaps, "/m")},
       200,
       {"deletionTimestamp"}},
      {"FZ-1 the last finalizer lets it go",
       {{"POST", kMaps, kHeld},
        {"DELETE", On(kMaps, "/m")},
        {"PATCH", On(kMaps, "/m"), "{\"metadata\":{\"finalizers\":null}}",
         "merge"}},
       {"GET", On(kMaps, "/m")},
       404,
       {}},
      {"FZ-1 no new finalizer on what goes",
       {{"POST", kMaps, kHeld}, {"DELETE", On(kMaps, "/m")}},
       {"PATCH", On(kMaps, "/m"),
        "{\"metadata\":{\"finalizers\":[\"a.b/c\",\"d.e/f\"]}}", "merge"},
       422,
       {"metadata.finalizers: Forbidden: no new finalizers can be added if the "
        "object is being deleted, found new finalizers "
        "[]string{\\\"d.e/f\\\"}"}},
  };
}

}  // namespace

std::vector<Rule> AllApiRules() {
  std::vector<Rule> all;
  for (std::vector<Rule> more :
       {CreateRules(), RefusedCreateRules(), PutRules(), PatchRules(),
        DeleteRules(), FinalizerRules(), RulesOfKinds()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace gpubinder::embedded
