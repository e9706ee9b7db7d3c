#include "reconciler/model/by_hand.h"

#include <algorithm>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/utf8.h"

namespace gpubinder {
namespace {

constexpr size_t kLongestUser = 253;
constexpr size_t kMostNamed = 800;  // bytes of an error

absl::Status CheckUser(const std::string& user) {
  const bool legal =
      !user.empty() && Utf8Within(user, kLongestUser) == user &&
      std::none_of(user.begin(), user.end(),
                   [](unsigned char c) { return absl::ascii_iscntrl(c); });
  if (legal) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("user: found ", user.size(), " bytes, want a name of 1 to ",
                   kLongestUser, " bytes of UTF-8 without control characters"));
}

absl::Status Prepare(const Snapshot& snapshot, v1::ConfirmMassLoss& confirm) {
  v1::ConfirmMassLoss held;
  for (const auto& [name, node] : snapshot.unkept_nodes) {
    if (node.held) held.add_nodes(name);
  }
  if (held.nodes().empty()) {
    return absl::FailedPreconditionError(
        "there is nothing to confirm: no mass loss stands");
  }
  const absl::btree_set<std::string> stand(held.nodes().begin(),
                                           held.nodes().end());
  const absl::btree_set<std::string> named(confirm.nodes().begin(),
                                           confirm.nodes().end());
  if (!named.empty() && named != stand) {
    return absl::FailedPreconditionError(
        absl::StrCat("found ", named.size(), " nodes named, want the ",
                     stand.size(), " of the mass loss that stands: ",
                     Utf8Within(absl::StrJoin(stand, ", "), kMostNamed)));
  }
  confirm = held;
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareByHand(const Snapshot& snapshot, v1::ByHand& command) {
  if (absl::Status s = CheckUser(command.user()); !s.ok()) return s;
  switch (command.command_case()) {
    case v1::ByHand::kConfirmMassLoss:
      return Prepare(snapshot, *command.mutable_confirm_mass_loss());
    case v1::ByHand::COMMAND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("command: found none that is known here");
}

Change FoldByHand(const v1::ByHand& command, Snapshot& snapshot) {
  Change change = Change::kNone;
  for (const std::string& name : command.confirm_mass_loss().nodes()) {
    auto node = snapshot.unkept_nodes.find(name);
    if (node == snapshot.unkept_nodes.end()) continue;
    node->second.confirmed = true;
    node->second.held = false;
    change = Change::kMatters;
  }
  return change;
}

}  // namespace gpubinder
