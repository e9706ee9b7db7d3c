#include "k8s/embedded/store.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

using Json = nlohmann::json;

StoreKey Key(const std::string& name) { return {"things", "n", name}; }
Json Thing(int value) { return {{"metadata", {}}, {"value", value}}; }

TEST(Store, EveryWriteIsOneRevisionAndOneEvent) {
  Store store(10);
  const uint64_t start = store.revision();
  store.Put(Key("a"), Thing(1));
  store.Put(Key("a"), Thing(2));
  const JsonPtr last = store.Remove(Key("a"));
  EXPECT_EQ(store.revision(), start + 3);
  EXPECT_EQ((*last)["metadata"]["resourceVersion"], std::to_string(start + 3));
  EXPECT_EQ(store.Remove(Key("a")), nullptr);
  EXPECT_EQ(store.revision(), start + 3);

  const StoreEvent* event = store.EventAfter(start);
  EXPECT_EQ(event->type, StoreEventType::kAdded);
  EXPECT_EQ(event->previous, nullptr);
  event = store.EventAfter(start + 1);
  EXPECT_EQ(event->type, StoreEventType::kModified);
  EXPECT_EQ((*event->previous)["value"], 1);
  EXPECT_EQ(store.EventAfter(start + 2)->type, StoreEventType::kDeleted);
  EXPECT_EQ(store.EventAfter(start + 3), nullptr);
}

TEST(Store, ListsAsOfARevision) {
  Store store(10);
  store.Put(Key("a"), Thing(1));
  const uint64_t then = store.revision();
  store.Put(Key("a"), Thing(2));
  store.Put(Key("b"), Thing(3));
  store.Remove(Key("a"));
  const auto now = store.ListAt("things", "", store.revision());
  ASSERT_TRUE(now.has_value());
  ASSERT_EQ(now->size(), 1u);
  const auto past = store.ListAt("things", "n", then);
  ASSERT_TRUE(past.has_value());
  ASSERT_EQ(past->size(), 1u);
  EXPECT_EQ((*past->front())["value"], 1);
  EXPECT_TRUE(store.ListAt("others", "", then)->empty());
}

TEST(Store, ForgetsWhatFallsOutOfTheWindow) {
  Store store(2);
  const uint64_t start = store.revision();
  for (int i = 0; i < 3; ++i) store.Put(Key("a"), Thing(i));
  EXPECT_EQ(store.compacted(), start + 1);
  EXPECT_FALSE(store.ListAt("things", "", start).has_value());
  EXPECT_TRUE(store.ListAt("things", "", start + 1).has_value());
}

TEST(Store, ShowsEachRevisionToItsObserver) {
  Store store(1);
  std::vector<uint64_t> seen;
  store.SetObserver(
      [&](const StoreEvent& event) { seen.push_back(event.revision); });
  for (int i = 0; i < 5; ++i) store.Put(Key("a"), Thing(i));
  const uint64_t last = store.revision();
  EXPECT_EQ(seen, (std::vector<uint64_t>{last - 4, last - 3, last - 2, last - 1,
                                         last}));
}

}  // namespace
}  // namespace gpubinder::embedded
