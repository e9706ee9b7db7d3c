// Garbage collection and the end of namespaces: fact sheets kubernetes (GC,
// FZ rules) and real-apiserver, section 3.6.

#include "k8s/embedded/collector.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/testing_cluster.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

class CollectorTest : public testing::Test {
 protected:
  std::string Make(const std::string& name, const Json& owners,
                   const std::string& collection = kMaps) {
    const Json made = cluster_.Call(
        "POST", collection,
        DumpJson(
            {{"metadata", {{"name", name}, {"ownerReferences", owners}}}}));
    EXPECT_EQ(cluster_.code(), 201);
    return TextAt(made, {"metadata", "uid"});
  }
  static Json Owner(const std::string& kind, const std::string& name,
                    const std::string& uid) {
    return {{"apiVersion", "v1"}, {"kind", kind}, {"name", name}, {"uid", uid}};
  }
  bool Exists(const std::string& name) {
    cluster_.Call("GET", absl::StrCat(kMaps, "/", name));
    return cluster_.code() == 200;
  }

  TestCluster cluster_;
};

TEST_F(CollectorTest, WhatIsOwnedGoesAfterItsOwner) {
  const std::string uid = Make("owner", Json::array());
  Make("owned", Json::array({Owner("ConfigMap", "owner", uid)}));
  cluster_.Settle();
  EXPECT_TRUE(Exists("owned"));
  cluster_.Call("DELETE", absl::StrCat(kMaps, "/owner"));
  EXPECT_TRUE(Exists("owned")) << "collection is in the background";
  cluster_.Settle();
  EXPECT_FALSE(Exists("owned"));
}

TEST_F(CollectorTest, AnOwnerThatNeverExistedCollects) {
  Make("owned", Json::array({Owner("ConfigMap", "owner", "never")}));
  cluster_.Settle();
  EXPECT_FALSE(Exists("owned"));
}

TEST_F(CollectorTest, TheUidDecides) {  // GC-7
  const std::string uid = Make("owner", Json::array());
  Make("owned", Json::array({Owner("ConfigMap", "owner", uid)}));
  cluster_.Call("DELETE", absl::StrCat(kMaps, "/owner"));
  Make("owner", Json::array());
  cluster_.Settle();
  EXPECT_FALSE(Exists("owned"));
  EXPECT_TRUE(Exists("owner"));
}

TEST_F(CollectorTest, OneLivingOwnerKeepsItAndDanglingOnesGo) {  // GC-3
  const std::string uid = Make("owner", Json::array());
  Make("owned", Json::array({Owner("ConfigMap", "gone", "never"),
                             Owner("ConfigMap", "owner", uid)}));
  cluster_.Settle();
  const Json owned = cluster_.Call("GET", absl::StrCat(kMaps, "/owned"));
  ASSERT_EQ(cluster_.code(), 200);
  ASSERT_EQ(owned["metadata"]["ownerReferences"].size(), 1u);
  EXPECT_EQ(owned["metadata"]["ownerReferences"][0]["name"], "owner");
}

TEST_F(CollectorTest, AnOwnerInAnotherNamespaceIsAbsent) {  // GC-2
  cluster_.Call("POST", "/api/v1/namespaces", NamespaceText("t"));
  const std::string uid =
      Make("owner", Json::array(), "/api/v1/namespaces/t/configmaps");
  Make("owned", Json::array({Owner("ConfigMap", "owner", uid)}));
  cluster_.Settle();
  EXPECT_FALSE(Exists("owned"));
}

TEST_F(CollectorTest, AnOwnerOfAKindThatIsNotServedKeepsIt) {
  Make("owned", Json::array({{{"apiVersion", "apps/v1"},
                              {"kind", "Deployment"},
                              {"name", "d"},
                              {"uid", "u"}}}));
  cluster_.Settle();
  EXPECT_TRUE(Exists("owned"));
}

TEST_F(CollectorTest, FollowsAgainAfterACompaction) {
  const std::string uid = Make("owner", Json::array());
  Make("owned", Json::array({Owner("ConfigMap", "owner", uid)}));
  cluster_.Settle();
  cluster_.Call("DELETE", absl::StrCat(kMaps, "/owner"));
  Make("other", Json::array());
  cluster_.server.CompactEvents(cluster_.server.revision());
  cluster_.Settle();
  EXPECT_FALSE(Exists("owned"));
}

TEST_F(CollectorTest, ANamespaceWaitsForFinalizersAndSaysSo) {
  cluster_.Call("POST", "/api/v1/namespaces", NamespaceText("t"));
  cluster_.Call("POST", "/api/v1/namespaces/t/configmaps",
                R"({"metadata":{"name":"m","finalizers":["x.y/z"]}})");
  const Json deleted = cluster_.Call("DELETE", "/api/v1/namespaces/t");
  EXPECT_EQ(deleted["status"]["phase"], "Terminating");
  cluster_.Settle();
  const Json held = cluster_.Call("GET", "/api/v1/namespaces/t");
  EXPECT_EQ(held["status"]["conditions"][0]["type"],
            "NamespaceFinalizersRemaining");
  EXPECT_EQ(held["status"]["conditions"][0]["reason"], "SomeFinalizersRemain");
  EXPECT_EQ(held["status"]["conditions"][0]["message"],
            "Some content in the namespace has finalizers remaining: x.y/z in "
            "1 resource instances");

  const Json refused = cluster_.Call("POST", "/api/v1/namespaces/t/configmaps",
                                     R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(cluster_.code(), 403);
  EXPECT_EQ(refused["message"],
            "configmaps \"n\" is forbidden: unable to create new content in "
            "namespace t because it is being terminated");
  EXPECT_EQ(refused["details"]["causes"][0]["reason"], "NamespaceTerminating");
  cluster_.Call("PATCH", "/api/v1/namespaces/t/configmaps/m",
                R"({"data":{"a":"b"}})", "merge");
  EXPECT_EQ(cluster_.code(), 200) << "updating inside is allowed";

  cluster_.Call("PATCH", "/api/v1/namespaces/t/configmaps/m",
                R"({"metadata":{"finalizers":null}})", "merge");
  cluster_.Settle();
  cluster_.Call("GET", "/api/v1/namespaces/t");
  EXPECT_EQ(cluster_.code(), 404);
}

TEST_F(CollectorTest, APodWithANodeEndsWhenItsKubeletSaysSo) {  // PD-1
  cluster_.AddNode("n1", 8);
  const char* const pod = "/api/v1/namespaces/default/pods/p";
  cluster_.Call("POST", "/api/v1/namespaces/default/pods", PodText("p", "", 1));
  cluster_.Settle();
  cluster_.Call("PATCH", "/api/v1/nodes/n1",
                R"({"metadata":{"annotations":{
                    "sandbox.gpubinder/kubelet":"dead"}}})",
                "merge");
  const Json deleted = cluster_.Call("DELETE", pod);
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(deleted["metadata"]["deletionTimestamp"], "2026-01-01T00:00:30Z");
  cluster_.Settle();
  cluster_.Call("GET", pod);
  EXPECT_EQ(cluster_.code(), 200);
  cluster_.Call("DELETE", pod, R"({"gracePeriodSeconds":0})");
  cluster_.Call("GET", pod);
  EXPECT_EQ(cluster_.code(), 404);
}

TEST_F(CollectorTest, AGatedPodGoesAtOnceButIsMarkedFirst) {  // PD-2
  cluster_.Call("POST", "/api/v1/namespaces/default/pods",
                PodText("p", "g.example/a", 1));
  std::string seen;
  cluster_.server.ObserveRevisions([&](const StoreEvent& event) {
    const bool marked =
        !At(*event.object, {"metadata", "deletionTimestamp"}).is_null();
    seen += event.type == StoreEventType::kDeleted ? "deleted "
            : marked                               ? "marked "
                                                   : "other ";
  });
  cluster_.Call("DELETE", "/api/v1/namespaces/default/pods/p");
  EXPECT_EQ(seen, "marked deleted ");
}

}  // namespace
}  // namespace gpubinder::embedded
