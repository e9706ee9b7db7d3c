// The objects `fields` of `plan -o json`, which other tools are written
// against.

#include <set>
#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "k8s/effect_codec.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/effect_text.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

struct FieldsCase {
  const char* kind;
  const char* effect;
  const char* fields;
};

class EffectFieldsTest : public testing::TestWithParam<FieldsCase> {};

TEST_P(EffectFieldsTest, AreAsDocumented) {
  v1::Effect effect;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().effect,
                                                            &effect));
  EXPECT_EQ(EffectKindName(effect), GetParam().kind);
  EXPECT_EQ(Json::parse(EffectFieldsJson(effect)),
            Json::parse(GetParam().fields));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EffectFieldsTest,
    testing::Values(
        FieldsCase{"CreateTemplateClaim",
                   "create_template_claim {class_name: 'h100' count: 2 "
                   "vmi_name: 'web' owner {api_version: 'kubevirt.io/v1' "
                   "kind: 'VirtualMachineInstance' name: 'web' uid: 'i-1'}}",
                   R"({"className": "h100", "count": 2,
                       "owner": {"apiVersion": "kubevirt.io/v1",
                                 "kind": "VirtualMachineInstance",
                                 "name": "web", "uid": "i-1"}})"},
        FieldsCase{"BindClaim",
                   "bind_claim {node_name: 'n1' bound_at_unix_seconds: "
                   "1796083200 resource_name: 'a/b' units: 2 gathered: true}",
                   R"({"nodeName": "n1", "boundAt": "2026-12-01T00:00:00Z",
                       "resourceName": "a/b"})"},
        FieldsCase{"LoseClaim",
                   "lose_claim {reason: NODE_TAINTED message: 'x'}",
                   R"({"reason": "NodeTainted"})"},
        FieldsCase{"PinPod",
                   "target {uid: 'p-1' resource_version: '3'} "
                   "pin_pod {node_name: 'n1'}",
                   R"({"nodeName": "n1", "patch": [
                       {"op": "replace", "path": "/metadata/resourceVersion",
                        "value": "3"},
                       {"op": "test", "path": "/metadata/uid",
                        "value": "p-1"},
                       {"op": "test", "path": "/spec/schedulingGates/0/name",
                        "value": "gpu.cozystack.io/claims"},
                       {"op": "remove", "path": "/spec/schedulingGates/0"}]})"},
        FieldsCase{"RecordRejection",
                   "record_rejection {entry {node_name: 'n1' node_uid: 'u1' "
                   "pod_uid: 'p-1' resources: 'a/b' reason: 'r' "
                   "rejected_at_unix_seconds: 1 until_unix_seconds: 1796083200 "
                   "fingerprint: '0f'}}",
                   R"({"nodeName": "n1", "nodeUID": "u1", "podUID": "p-1",
                       "resources": ["a/b"], "reason": "r",
                       "until": "2026-12-01T00:00:00Z",
                       "fingerprint": "0f"})"},
        FieldsCase{"DeletePod", "delete_pod {reason: REJECTED_BY_NODE}",
                   R"({"reason": "RejectedByNode"})"},
        FieldsCase{"DeleteVMI", "delete_vmi {reason: NODE_GONE}",
                   R"({"reason": "NodeGone"})"},
        FieldsCase{"RestartVM", "restart_vm {reason: NODE_GONE vmi_uid: 'i'}",
                   R"({"reason": "NodeGone"})"},
        FieldsCase{"AttachClaim", "attach_claim {name: 'web' uid: 'i-1'}",
                   R"({"name": "web", "uid": "i-1"})"},
        FieldsCase{"ReleaseClaim", "release_claim {name: 'web'}",
                   R"({"name": "web", "uid": null})"},
        FieldsCase{"SetCondition",
                   "set_condition {type: 'Bound' status: 'False' reason: "
                   "OVER_BUDGET message: 'm' conditions {type: 'Bound'}}",
                   R"({"type": "Bound", "status": "False",
                       "reason": "OverBudget", "message": "m"})"},
        FieldsCase{"WriteClaimSet",
                   "write_claim_set {set_claims: true claims: 'x' "
                   "node_name: '' reason: PLACED since_unix_seconds: 0}",
                   R"({"claims": ["x"], "nodeName": null, "reason": "Placed",
                       "since": "1970-01-01T00:00:00Z"})"},
        FieldsCase{"WriteClaimSet", "write_claim_set {}", "{}"},
        FieldsCase{"EmitWarning",
                   "emit_warning {name: 'e' reason: NO_NODE_FITS note: 'n'}",
                   R"({"name": "e", "reason": "NoNodeFits", "note": "n"})"},
        FieldsCase{"DeleteTemplateClaim", "delete_template_claim {}", "{}"},
        FieldsCase{"WriteUsageRecord",
                   "write_usage_record {class_name: 'h100' resource: 'a/b' "
                   "units: 2}",
                   R"({"resources": {"a/b": "2"}})"},
        FieldsCase{"DeleteUsageRecord", "delete_usage_record {}", "{}"},
        FieldsCase{"AddFinalizer", "add_finalizer {finalizer: 'a/b'}",
                   R"({"finalizer": "a/b"})"},
        FieldsCase{"RemoveFinalizer", "remove_finalizer {finalizer: 'a/b'}",
                   R"({"finalizer": "a/b"})"},
        FieldsCase{"WriteSettings",
                   "write_settings {resource_names: 'a/b' "
                   "raw_resource_names: 'allowed'}",
                   R"({"data": {"resourceNames": "a/b",
                                "rawResourceNames": "allowed"}})"},
        FieldsCase{"", "", "{}"}));

TEST(EffectKindTest, EveryWriteOfTheProtoHasAName) {
  const google::protobuf::OneofDescriptor* const writes =
      v1::Effect::descriptor()->FindOneofByName("write");
  std::set<std::string> names;
  for (int i = 0; i < writes->field_count(); ++i) {
    v1::Effect effect;
    effect.GetReflection()->MutableMessage(&effect, writes->field(i));
    names.insert(std::string(EffectKindName(effect)));
  }
  EXPECT_EQ(names.size(), 19);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace gpubinder
