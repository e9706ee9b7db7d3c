#include "reconciler/model/by_hand.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {
namespace {

v1::ByHand Confirmation(const std::string& user) {
  v1::ByHand command;
  command.set_user(user);
  command.mutable_confirm_mass_loss();
  return command;
}

TEST(ByHandTest, NamesWhoGaveTheCommandInAShortText) {
  Snapshot snapshot;
  snapshot.unkept_nodes["a"].held = true;
  const std::string longest(253, 'u');
  for (const std::string& user :
       {std::string(), longest + "u", std::string("ada\n")}) {
    v1::ByHand command = Confirmation(user);
    EXPECT_EQ(PrepareByHand(snapshot, command).code(),
              absl::StatusCode::kInvalidArgument)
        << user;
  }
  v1::ByHand command = Confirmation(longest);
  EXPECT_TRUE(PrepareByHand(snapshot, command).ok());
  EXPECT_EQ(command.confirm_mass_loss().nodes_size(), 1);
}

TEST(ByHandTest, RefusesWhatIsNoCommand) {
  Snapshot snapshot;
  v1::ByHand command;
  command.set_user("ada");
  EXPECT_EQ(PrepareByHand(snapshot, command).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ByHandTest, ANodeThatKeepsItsSetsAgainIsPassedOver) {
  Snapshot snapshot;
  snapshot.unkept_nodes["a"].held = true;
  v1::ByHand command = Confirmation("ada");
  command.mutable_confirm_mass_loss()->add_nodes("back");
  EXPECT_EQ(FoldByHand(command, snapshot), Change::kNone);
  EXPECT_EQ(snapshot.unkept_nodes.size(), 1u);
  EXPECT_TRUE(snapshot.unkept_nodes["a"].held);
}

}  // namespace
}  // namespace gpubinder
