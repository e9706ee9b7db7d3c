#include <gtest/gtest.h>

#include <map>
#include <string>

#include "k8s/object_codec.h"
#include "tools/bench/cluster.h"
#include "tools/bench/event_stream.h"

namespace gpubinder::bench {
namespace {

std::string BytesOf(const EventStream& stream) {
  std::string bytes;
  for (const v1::Record& record : stream.records) {
    bytes += record.SerializeAsString();
  }
  return bytes;
}

TEST(EventStream, OfOneSeedIsOneStreamOfBytes) {
  const auto one = MakeEventStream(3, 500);
  const auto again = MakeEventStream(3, 500);
  const auto other = MakeEventStream(4, 500);
  ASSERT_TRUE(one.ok() && again.ok() && other.ok());
  EXPECT_EQ(BytesOf(*one), BytesOf(*again));
  EXPECT_NE(BytesOf(*one), BytesOf(*other));
  EXPECT_GE(one->records.size(), 500u);
}

TEST(EventStream, IsOfWholeObjectsThatSayWhoTheyAre) {
  const auto stream = MakeEventStream(3, 800);
  ASSERT_TRUE(stream.ok());
  std::map<std::string, int> kinds;
  for (const v1::Record& record : stream->records) {
    const v1::ObjectEvent& event = record.object();
    const auto object = DecodeObject(*KindByName(event.kind()), event.json());
    ASSERT_TRUE(object.ok());
    const ObjectMeta& meta = MetaOf(*object);
    EXPECT_TRUE(meta.problems.empty());
    EXPECT_EQ(meta.name, event.name());
    EXPECT_EQ(meta.name_space, event.namespace_());
    EXPECT_EQ(meta.uid, event.uid());
    EXPECT_EQ(meta.resource_version, event.resource_version());
    EXPECT_EQ(event.json().find("@"), event.json().find("@sha256"));
    EXPECT_EQ(event.json().find("managedFields"), std::string::npos);
    ++kinds[event.kind()];
  }
  for (const char* kind :
       {"Node", "Pod", "VirtualMachineInstance", "GPUClaim"}) {
    EXPECT_GT(kinds[kind], 50) << kind;
  }
  EXPECT_GT(stream->raw_bytes, stream->json_bytes);
}

TEST(Cluster, HasTheShapeThatWasAskedFor) {
  const Cluster cluster({.seed = 5,
                         .claims = 1000,
                         .nodes = 20,
                         .fill_percent = 50,
                         .waiting_sets = 4});
  int64_t claims = 0, bound = 0, held = 0, templates = 0;
  int64_t booked = 0, allocatable = 0;
  cluster.ForEach(Kind::kGpuClaim, [&](Object object) {
    const GpuClaim& claim = std::get<GpuClaim>(object);
    ++claims;
    bound += claim.phase == "Bound";
    held += claim.attached_to.has_value();
    templates += !claim.meta.labels.empty();
    if (claim.phase == "Bound") booked += claim.units;
  });
  EXPECT_EQ(claims, cluster.claims());
  EXPECT_GE(bound, 1000);
  EXPECT_LT(bound, 1008);
  EXPECT_GT(held, 300);
  EXPECT_GT(templates, 300);
  EXPECT_EQ(booked, cluster.booked_units());
  int64_t nodes = 0;
  cluster.ForEach(Kind::kNode, [&](Object object) {
    ++nodes;
    for (const auto& [name, text] : std::get<Node>(object).allocatable) {
      if (name.rfind("nvidia.com/", 0) == 0) allocatable += std::stoll(text);
    }
  });
  EXPECT_EQ(nodes, 20);
  // Half full; a class that nothing is booked of has one unit all the same.
  EXPECT_GE(allocatable, 2 * booked);
  EXPECT_LE(allocatable, 2 * booked + 20 * kClassesPerNode);
  int64_t gated = 0;
  cluster.ForEach(Kind::kPod, [&](Object object) {
    gated += !std::get<Pod>(object).gates.empty();
  });
  EXPECT_EQ(gated, 4);
}

TEST(Cluster, OfOneSeedIsOneCluster) {
  auto objects = [](uint64_t seed) {
    std::vector<Object> all;
    const Cluster cluster({.seed = seed, .claims = 100, .nodes = 4});
    for (int i = 0; i < kKinds; ++i) {
      cluster.ForEach(static_cast<Kind>(i),
                      [&](Object object) { all.push_back(std::move(object)); });
    }
    return all;
  };
  EXPECT_EQ(objects(1), objects(1));
  EXPECT_NE(objects(1), objects(2));
}

}  // namespace
}  // namespace gpubinder::bench
