#include "tools/planned_cluster.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "tools/text_files.h"

namespace gpubinder {
namespace {

using Verb = EffectRequest::Verb;

class PlannedClusterTest : public testing::Test {
 protected:
  absl::Status Load(absl::string_view yaml) {
    const auto texts = JsonTexts(yaml, "in");
    EXPECT_TRUE(texts.ok()) << texts.status();
    const auto input = ObjectsOf(*texts, "a");
    EXPECT_TRUE(input.ok()) << input.status();
    for (const InputObject& object : input->objects) {
      if (absl::Status s = cluster_.Add(object); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // "TYPE name version finalizers deleting", one a line.
  std::string Send(Verb verb, ResourcePath path, PatchType type,
                   const std::string& body) {
    path.group = "gpu.cozystack.io";
    path.version = "v1alpha1";
    path.plural = "gpuclaims";
    path.name_space = "a";
    const auto answer = cluster_.Send(
        {.verb = verb, .path = path, .patch_type = type, .body = body});
    if (!answer.ok()) {
      return absl::StrCat(ApiErrorOf(answer.status()).code);
    }
    std::string text;
    for (const ObjectState& change : answer->changes) {
      absl::StrAppend(&text, v1::ObjectEvent::Type_Name(change.event.type()),
                      " ", change.event.name(),
                      MetaOf(change.object).deleting ? " deleting" : "", "\n");
    }
    return text;
  }
  std::string Merge(const std::string& name, const std::string& body) {
    return Send(Verb::kPatch, {.name = name}, PatchType::kMerge, body);
  }
  std::string Json(const std::string& name, const std::string& body) {
    return Send(Verb::kPatch, {.name = name}, PatchType::kJson, body);
  }
  std::string Status(const std::string& name, const std::string& body) {
    return Send(Verb::kPatch, {.name = name, .subresource = "status"},
                PatchType::kMerge, body);
  }
  std::string Delete(const std::string& name, const std::string& body) {
    return Send(Verb::kDelete, {.name = name}, PatchType::kMerge, body);
  }

  GpuClaim Claim(const std::string& name) {
    GpuClaim found;
    cluster_.ForEach(Kind::kGpuClaim, [&](ObjectState state) {
      if (state.event.name() == name) {
        found = std::get<GpuClaim>(std::move(state.object));
      }
    });
    return found;
  }

  PlannedCluster cluster_{absl::FromUnixSeconds(1000)};
};

constexpr char kTwo[] = R"(
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaim
metadata: {name: free, uid: u-free, resourceVersion: "7"}
spec: {className: h100}
---
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaim
metadata: {name: kept, uid: u-kept, resourceVersion: "2000", finalizers: [f]}
spec: {className: h100}
)";

TEST_F(PlannedClusterTest, WhatIsMissingIsFilledInByTheNameAlone) {
  const std::string claim =
      "{apiVersion: gpu.cozystack.io/v1alpha1, kind: GPUClaim, metadata: "
      "{name: c}, spec: {className: h}}";
  ASSERT_TRUE(Load(claim).ok());
  const GpuClaim found = Claim("c");
  EXPECT_EQ(found.meta.uid.size(), 36u);
  EXPECT_EQ(found.meta.resource_version, "1");
  EXPECT_EQ(found.meta.name_space, "a");
  PlannedCluster other(absl::FromUnixSeconds(5));
  const auto input = ObjectsOf(*JsonTexts(claim, "x"), "a");
  ASSERT_TRUE(other.Add(input->objects[0]).ok());
  other.ForEach(Kind::kGpuClaim, [&](ObjectState state) {
    EXPECT_EQ(state.event.uid(), found.meta.uid);
  });
}

TEST_F(PlannedClusterTest, AnObjectWithABadUidStaysMalformed) {
  ASSERT_TRUE(Load("{apiVersion: gpu.cozystack.io/v1alpha1, kind: GPUClaim, "
                   "metadata: {name: c, uid: 5}, spec: {className: h}}")
                  .ok());
  const GpuClaim found = Claim("c");
  EXPECT_EQ(found.meta.uid.size(), 36u);
  ASSERT_EQ(found.meta.problems.size(), 1u);
  EXPECT_EQ(found.meta.problems[0].field, "metadata.uid");
}

TEST_F(PlannedClusterTest, OneUidIsOneObject) {
  EXPECT_EQ(Load(R"(
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, uid: u}}
)")
                .message(),
            "in, document 2: Node n2: metadata.uid: found \"u\", which n1 has "
            "too, want one of its own");
}

TEST_F(PlannedClusterTest, APatchAppliesToTheUidAndVersionItNames) {
  ASSERT_TRUE(Load(kTwo).ok());
  EXPECT_EQ(Merge("free", R"({"metadata":{"resourceVersion":"6"}})"), "409");
  EXPECT_EQ(Merge("free", R"({"metadata":{"uid":"x"}})"), "409");
  EXPECT_EQ(Merge("none", "{}"), "404");
  EXPECT_EQ(Merge("free", R"({"metadata":{"uid":"u-free",
            "resourceVersion":"7","labels":{"l":"v"}}})"),
            "MODIFIED free\n");
  EXPECT_EQ(Claim("free").meta.labels.at("l"), "v");
  // Versions go on after the newest that was read.
  EXPECT_EQ(Claim("free").meta.resource_version, "2001");
  EXPECT_EQ(Merge("free", R"({"metadata":{"labels":{"l":"v"}}})"), "");
}

TEST_F(PlannedClusterTest, AJsonPatchConflictsOnItsVersionAndFailsOnATest) {
  ASSERT_TRUE(Load(kTwo).ok());
  EXPECT_EQ(Json("free", R"([{"op":"replace",
            "path":"/metadata/resourceVersion","value":"6"}])"),
            "409");
  EXPECT_EQ(Json("free", R"([{"op":"test","path":"/metadata/uid",
            "value":"x"}])"),
            "422");
  EXPECT_EQ(Json("free", R"([{"op":"replace",
            "path":"/metadata/resourceVersion","value":"7"},
            {"op":"add","path":"/metadata/finalizers","value":["g"]}])"),
            "MODIFIED free\n");
}

TEST_F(PlannedClusterTest, StatusIsASubresource) {
  ASSERT_TRUE(Load(kTwo).ok());
  EXPECT_EQ(Merge("free", R"({"status":{"phase":"Bound"}})"), "");
  EXPECT_EQ(Status("free", R"({"status":{"phase":"Bound"},
            "spec":{"className":"other"}})"),
            "MODIFIED free\n");
  EXPECT_EQ(Claim("free").phase, "Bound");
  EXPECT_EQ(Claim("free").class_name, "h100");
}

TEST_F(PlannedClusterTest, ADeletedObjectWaitsForItsFinalizers) {
  ASSERT_TRUE(Load(kTwo).ok());
  EXPECT_EQ(Delete("kept", R"({"preconditions":{"uid":"x"}})"), "409");
  EXPECT_EQ(Delete("kept", R"({"preconditions":{"uid":"u-kept"}})"),
            "MODIFIED kept deleting\n");
  EXPECT_EQ(Claim("kept").meta.deleting, absl::FromUnixSeconds(1000));
  EXPECT_EQ(Delete("kept", "{}"), "");
  EXPECT_EQ(Json("kept", R"([{"op":"remove",
            "path":"/metadata/finalizers/0"}])"),
            "DELETED kept deleting\n");
  EXPECT_EQ(Delete("free", "{}"), "DELETED free\n");
  EXPECT_EQ(Delete("free", "{}"), "404");
}

TEST_F(PlannedClusterTest, WhatOnlyGoneObjectsOwnIsDeletedToo) {
  const auto owned = [](const char* name, const char* more,
                        const char* owners) {
    return absl::StrCat(
        "---\n{apiVersion: gpu.cozystack.io/v1alpha1, kind: GPUClaim, "
        "metadata: {name: ",
        name, ", ", more, " ownerReferences: [", owners, "]}}\n");
  };
  ASSERT_TRUE(
      Load(absl::StrCat(
               kTwo, owned("child", "uid: u-child,", "{uid: u-free}"),
               owned("grandchild", "finalizers: [f],", "{uid: u-child}"),
               owned("shared", "", "{uid: u-free}, {uid: u-kept}")))
          .ok());
  EXPECT_EQ(Delete("free", "{}"),
            "DELETED free\nDELETED child\nMODIFIED grandchild deleting\n");
  EXPECT_EQ(Claim("shared").meta.name, "shared");
}

TEST_F(PlannedClusterTest, ACreatedObjectHasNoStatusAndAUidOfItsOwn) {
  const std::string body =
      R"({"metadata":{"name":"c"},"spec":{"className":"h"},
          "status":{"phase":"Bound"}})";
  EXPECT_EQ(Send(Verb::kCreate, {}, PatchType::kMerge, body), "ADDED c\n");
  const GpuClaim first = Claim("c");
  EXPECT_EQ(first.phase, "");
  EXPECT_EQ(first.meta.generation, 1);
  EXPECT_EQ(first.meta.created, absl::FromUnixSeconds(1000));
  EXPECT_EQ(Send(Verb::kCreate, {}, PatchType::kMerge, body), "409");
  EXPECT_EQ(Delete("c", "{}"), "DELETED c\n");
  EXPECT_EQ(Send(Verb::kCreate, {}, PatchType::kMerge, body), "ADDED c\n");
  EXPECT_NE(Claim("c").meta.uid, first.meta.uid);
}

}  // namespace
}  // namespace gpubinder
