#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/api_rules.h"

namespace gpubinder::embedded {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/t/configmaps";
constexpr char kClaims[] =
    "/apis/gpu.cozystack.io/v1alpha1/namespaces/t/gpuclaims";
constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/namespaces/t/leases";
constexpr char kVmis[] =
    "/apis/kubevirt.io/v1/namespaces/t/virtualmachineinstances";

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
std::string Lease(const char* time) {
  return absl::StrCat(
      "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":"
      "\"Lease\",\"metadata\":{\"name\":\"l\"},\"spec\":{"
      "\"renewTime\":\"",
      time, "\"}}");
}

const std::string kMap = Map("\"metadata\":{\"name\":\"m\"}");
const std::string kClaim = Claim("\"spec\":{\"className\":\"h100\"}");
const std::string kGoodLease = Lease("2026-01-01T00:00:00.123456Z");

std::vector<Rule> StatusRules() {
  return {
      {"3.4 status at creation is dropped",
       {{"POST", kClaims,
         Claim("\"spec\":{\"className\":\"h\"},\"status\":{\"phase\":"
               "\"Bound\"}")}},
       {"PATCH", On(kClaims, "/c/status"),
        "[{\"op\":\"test\",\"path\":\"/"
        "status\",\"value\":{\"phase\":\"Pending\"}}]",
        "patch"},
       200,
       {}},
      {"PA-7 /status takes only status: finalizers are dropped silently",
       {{"POST", kClaims, kClaim},
        {"PATCH", On(kClaims, "/c/status"),
         "{\"metadata\":{\"finalizers\":[\"a.b/c\"]},\"status\":{\"phase\":"
         "\"Lost\"}}",
         "merge"}},
       {"PATCH", On(kClaims, "/c"),
        "[{\"op\":\"test\",\"path\":\"/metadata/finalizers\",\"value\":null}]",
        "patch"},
       200,
       {"\"generation\":1", "\"phase\":\"Lost\""}},
      {"PA-7 the main endpoint does not take status",
       {{"POST", kClaims, kClaim},
        {"PATCH", On(kClaims, "/c"), "{\"status\":{\"phase\":\"Lost\"}}",
         "merge"}},
       {"PATCH", On(kClaims, "/c/status"),
        "[{\"op\":\"test\",\"path\":\"/"
        "status\",\"value\":{\"phase\":\"Pending\"}}]",
        "patch"},
       200,
       {}},
      {"8.3 VMIs have no status subresource",
       {{"POST", kVmis,
         "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":"
         "\"VirtualMachineInstance\",\"metadata\":{\"name\":\"v\"},\"spec\":{"
         "\"domain\":{\"devices\":{}}}}"}},
       {"PATCH", On(kVmis, "/v/status"), "{}", "merge"},
       404,
       {}},
      {"8.3 a VMI's generation moves with its status",
       {{"POST", kVmis,
         "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":"
         "\"VirtualMachineInstance\",\"metadata\":{\"name\":\"v\"},\"spec\":{"
         "\"domain\":{\"devices\":{}}}}"}},
       {"PATCH", On(kVmis, "/v"), "{\"status\":{\"phase\":\"Scheduling\"}}",
        "merge"},
       200,
       {"\"generation\":2"}},
  };
}

std::vector<Rule> SchemaRules() {
  return {
      {"CD-4 an immutable spec",
       {{"POST", kClaims, kClaim}},
       {"PATCH", On(kClaims, "/c"), "{\"spec\":{\"count\":2}}", "merge"},
       422,
       {"GPUClaim.gpu.cozystack.io \\\"c\\\" is invalid: spec.count: "
        "Invalid value: \\\"integer\\\": count is immutable"}},
      {"className is required",
       {},
       {"POST", kClaims, Claim("\"spec\":{}")},
       422,
       {"spec.className: Required value"}},
      {"count has a default",
       {},
       {"POST", kClaims, kClaim},
       201,
       {"\"count\":1"}},
      {"count is at least 1",
       {},
       {"POST", kClaims, Claim("\"spec\":{\"className\":\"h\",\"count\":0}")},
       422,
       {"spec.count in body should be greater than or equal to 1"}},
      {"count is at most 64",
       {},
       {"POST", kClaims, Claim("\"spec\":{\"className\":\"h\",\"count\":65}")},
       422,
       {"spec.count in body should be less than or equal to 64"}},
      {"count is a number",
       {},
       {"POST", kClaims,
        Claim("\"spec\":{\"className\":\"h\",\"count\":\"1\"}")},
       422,
       {"must be of type integer"}},
      {"3.4 an unknown field is pruned",
       {},
       {"POST", kClaims, Claim("\"spec\":{\"className\":\"h\",\"zzz\":1}")},
       201,
       {"{\"className\":\"h\",\"count\":1}"}},
      {"3.4 an unknown field, strictly",
       {},
       {"POST", On(kClaims, "?fieldValidation=Strict"),
        Claim("\"spec\":{\"className\":\"h\",\"zzz\":1}")},
       400,
       {"strict decoding error: unknown field \\\"spec.zzz\\\""}},
  };
}

std::vector<Rule> LeaseRules() {
  return {
      {"3.7 a lease with three decimals",
       {},
       {"POST", kLeases, Lease("2026-01-01T00:00:00.123Z")},
       400,
       {"Lease in version \\\"v1\\\" cannot be handled as a Lease: parsing "
        "time \\\"2026-01-01T00:00:00.123Z\\\" as "
        "\\\"2006-01-02T15:04:05.000000Z07:00\\\": cannot parse \\\".123Z\\\" "
        "as \\\".000000\\\""}},
      {"3.7 a lease patched to three decimals",
       {{"POST", kLeases, kGoodLease}},
       {"PATCH", On(kLeases, "/l"),
        "{\"spec\":{\"renewTime\":\"2026-01-01T00:00:00.123Z\"}}", "merge"},
       422,
       {"cannot parse"}},
      {"3.7 a lease without a version",
       {{"POST", kLeases, kGoodLease}},
       {"PUT", On(kLeases, "/l"), kGoodLease},
       422,
       {"leases.coordination.k8s.io \\\"l\\\" is invalid: "
        "metadata.resourceVersion: Invalid value: 0: must be specified for an "
        "update"}},
      {"a lease may be created by PUT",
       {},
       {"PUT", On(kLeases, "/l"), kGoodLease},
       201,
       {"123456Z"}},
  };
}

std::vector<Rule> VersionRules() {
  const char* const list = "/api/v1/namespaces/t/configmaps";
  return {
      {"LS-1 match without version",
       {},
       {"GET", On(list, "?resourceVersionMatch=Exact")},
       422,
       {"ListOptions.meta.k8s.io \\\"\\\" is invalid: resourceVersionMatch: "
        "Forbidden: resourceVersionMatch is forbidden unless resourceVersion "
        "is provided"}},
      {"LS-1 exactly 0",
       {},
       {"GET", On(list, "?resourceVersion=0&resourceVersionMatch=Exact")},
       422,
       {"is forbidden for resourceVersion \\\"0\\\""}},
      {"WA-8 initial events without match",
       {},
       {"GET", On(list, "?watch=1&sendInitialEvents=true")},
       422,
       {"sendInitialEvents requires setting resourceVersionMatch to "
        "NotOlderThan"}},
      {"3.8 match on a watch without initial events",
       {},
       {"GET", On(list, "?watch=1&resourceVersionMatch=NotOlderThan")},
       422,
       {"resourceVersionMatch is forbidden for watch unless sendInitialEvents "
        "is provided"}},
      {"3.8 list of version abc",
       {},
       {"GET", On(list, "?resourceVersion=abc")},
       400,
       {"invalid syntax"}},
      {"3.8 watch of version abc: 500 without a reason",
       {},
       {"GET", On(list, "?watch=1&resourceVersion=abc")},
       500,
       {"resourceVersion: Invalid value: \\\"abc\\\""}},
      {"RV-T list of the future",
       {},
       {"GET", On(list, "?resourceVersion=99999999")},
       504,
       {"Too large resource version: 99999999, current: ",
        "\"ResourceVersionTooLarge\"", "\"retryAfterSeconds\":1"}},
  };
}

std::vector<Rule> ReadRules() {
  const char* const list = "/api/v1/namespaces/t/configmaps";
  return {
      {"a bad label selector",
       {},
       {"GET", On(list, "?labelSelector=a%3D%3D%3Db")},
       400,
       {"unable to parse requirement: found '=', expected: identifier"}},
      {"a field that cannot be selected",
       {},
       {"GET", On(list, "?fieldSelector=spec.foo%3Db")},
       400,
       {"\\\"spec.foo\\\" is not a known field selector: only "
        "\\\"metadata.name\\\", \\\"metadata.namespace\\\""}},
      {"a limit that is no number",
       {},
       {"GET", On(list, "?limit=x")},
       400,
       {"strconv.ParseInt: parsing \\\"x\\\": invalid syntax"}},
      {"406",
       {},
       {"GET", list, "", "json", "application/xml"},
       406,
       {"NotAcceptable"}},
      {"a table",
       {{"POST", kMaps, kMap}},
       {"GET", list, "", "json",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"},
       200,
       {"\"kind\":\"Table\"", "\"cells\":[\"m\",0,\"", "PartialObjectMetadata",
        "\"columnDefinitions\""}},
  };
}

}  // namespace

std::vector<Rule> RulesOfKinds() {
  std::vector<Rule> all;
  for (std::vector<Rule> more : {StatusRules(), SchemaRules(), LeaseRules(),
                                 VersionRules(), ReadRules()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace gpubinder::embedded
