// One case for each rule of the API that the binder relies on, run in the
// process and over HTTP. Ids name the rule in the project's fact sheets:
// OC-1 and so on; "3.4" is a section of the observations on a real server
// (v1.34.4), from which codes and texts are.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/testing_calls.h"

namespace gpubinder {
namespace {

constexpr char kPods[] = "/api/v1/namespaces/t/pods";
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
const std::string kHeld =
    Map("\"metadata\":{\"name\":\"m\",\"finalizers\":[\"a.b/c\"]}");
const std::string kGoodLease = Lease("2026-01-01T00:00:00.123456Z");

struct Rule {
  std::string id;
  std::vector<TestCall> before;  // each must succeed
  TestCall call;
  int code = 200;
  std::vector<std::string> said;  // parts of the body, or of the headers
};

std::vector<Rule> WriteRules() {
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
       {"nested deeper"}},
      {"create of another media type",
       {},
       {"POST", kMaps, "x", "text/plain"},
       415,
       {"UnsupportedMediaType"}},
      {"PUT to the collection", {}, {"PUT", kMaps, kMap}, 405, {}},
      {"a kind that is not served: plain text",
       {},
       {"GET", "/apis/foo/v1/x"},
       404,
       {"404 page not found"}},
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
      {"OC-3 patch with another uid",
       {{"POST", kMaps, kMap}},
       {"PATCH", On(kMaps, "/m"), "{\"metadata\":{\"uid\":\"x\"}}", "merge"},
       422,
       {"metadata.uid: Invalid value: \\\"x\\\": field is immutable"}},
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

std::vector<Rule> CustomRules() {
  return {
      {"3.4 status at creation is dropped",
       {{"POST", kClaims,
         Claim("\"spec\":{\"className\":\"h\"},\"status\":{\"phase\":"
               "\"Bound\"}")}},
       {"PATCH", On(kClaims, "/c/status"),
        "[{\"op\":\"test\",\"path\":\"/status\",\"value\":null}]", "patch"},
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
        "[{\"op\":\"test\",\"path\":\"/status\",\"value\":null}]", "patch"},
       200,
       {}},
      {"CD-4 an immutable spec",
       {{"POST", kClaims, kClaim}},
       {"PATCH", On(kClaims, "/c"), "{\"spec\":{\"count\":2}}", "merge"},
       422,
       {"GPUClaim.gpu.cozystack.io \\\"c\\\" is invalid: spec: Invalid value"}},
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
      {"8.3 VMIs have no status subresource",
       {{"POST", kVmis,
         "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":"
         "\"VirtualMachineInstance\",\"metadata\":{\"name\":\"v\"}}"}},
       {"PATCH", On(kVmis, "/v/status"), "{}", "merge"},
       404,
       {}},
      {"8.3 a VMI's generation moves with its status",
       {{"POST", kVmis,
         "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":"
         "\"VirtualMachineInstance\",\"metadata\":{\"name\":\"v\"}}"}},
       {"PATCH", On(kVmis, "/v"), "{\"status\":{\"phase\":\"Scheduling\"}}",
        "merge"},
       200,
       {"\"generation\":2", "foregroundDeleteVirtualMachine"}},
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

std::vector<Rule> ReadRules() {
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
      {"a bad label selector",
       {},
       {"GET", On(list, "?labelSelector=a%3D%3D%3Db")},
       400,
       {"unable to parse requirement: found '=', expected: identifier"}},
      {"a field that cannot be selected",
       {},
       {"GET", On(list, "?fieldSelector=spec.foo%3Db")},
       400,
       {"field label not supported: spec.foo"}},
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

std::vector<Rule> AllRules() {
  std::vector<Rule> all = WriteRules();
  for (std::vector<Rule> more : {CustomRules(), ReadRules()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

void ExpectRule(const Rule& rule, const TestTransport& transport) {
  SCOPED_TRACE(rule.id);
  for (const TestCall& call : rule.before) {
    const TestAnswer answer = transport(call);
    ASSERT_LT(answer.code, 300)
        << call.method << " " << call.target << ": " << answer.body;
  }
  const TestAnswer answer = transport(rule.call);
  EXPECT_EQ(answer.code, rule.code) << answer.body;
  for (const std::string& part : rule.said) {
    EXPECT_NE(answer.body.find(part), std::string::npos)
        << part << "\nis not in\n"
        << answer.body;
  }
}

TEST(ApiRules, HoldInTheProcess) {
  for (const Rule& rule : AllRules()) {
    EmbeddedServer server({});
    const TestTransport transport = InProcess(
        [&](const ApiRequest& request) { return server.Handle(request); });
    ASSERT_EQ(
        transport({"POST", "/api/v1/namespaces", NamespaceText("t")}).code,
        201);
    ExpectRule(rule, transport);
  }
}

TEST(ApiRules, HoldOverHttp) {
  for (const Rule& rule : AllRules()) {
    EmbeddedServer server({});
    ASSERT_TRUE(server.ListenHttp(0).ok());
    const TestTransport transport = OverHttp(server.port());
    ASSERT_EQ(
        transport({"POST", "/api/v1/namespaces", NamespaceText("t")}).code,
        201);
    ExpectRule(rule, transport);
  }
}

TEST(HttpFront, SendsWarningsAndRetryAfterAsHeaders) {
  EmbeddedServer server({});
  ASSERT_TRUE(server.ListenHttp(0).ok());
  const TestTransport transport = OverHttp(server.port());
  transport({"POST", "/api/v1/namespaces", NamespaceText("t")});
  EXPECT_EQ(transport({"POST", kClaims,
                       Claim("\"spec\":{\"className\":\"h\",\"zzz\":1}")})
                .headers,
            "299 - \"unknown field \\\"spec.zzz\\\"\"|");
  EXPECT_EQ(transport({"GET", On(kPods, "?resourceVersion=99999999")}).headers,
            "|1");
}

TEST(HttpFront, RefusesABodyOverTheLimit) {
  EmbeddedServer server({});
  ASSERT_TRUE(server.ListenHttp(0).ok());
  const TestTransport transport = OverHttp(server.port());
  EXPECT_EQ(
      transport({"POST", kMaps, std::string(3 * 1024 * 1024 + 1, ' ')}).code,
      413);
}

TEST(HttpFront, SaysWhichPortIsTaken) {
  EmbeddedServer one({}), other({});
  ASSERT_TRUE(one.ListenHttp(0).ok());
  const absl::Status status = other.ListenHttp(one.port());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(other.port(), 0);
}

}  // namespace
}  // namespace gpubinder
