#include "reconciler/operator_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "reconciler/explain_client.h"
#include "reconciler/explain_service.h"
#include "reconciler/pass_board.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);

class OperatorServiceTest : public testing::Test {
 protected:
  void Start(OperatorCalls calls) {
    auto service =
        ExplainService::Start({.operator_calls = std::move(calls)}, board_);
    ASSERT_TRUE(service.ok()) << service.status();
    service_ = *std::move(service);
  }
  absl::StatusOr<v1::ConfirmResponse> Send(const v1::ConfirmRequest& request) {
    return SendConfirm(absl::StrCat("127.0.0.1:", service_->port()), request,
                       kTimeout);
  }

  PassBoard board_;
  std::unique_ptr<ExplainService> service_;
};

v1::ConfirmRequest Request() {
  v1::ConfirmRequest request;
  request.set_user("ada");
  request.add_nodes("a");
  return request;
}

TEST_F(OperatorServiceTest, ConfirmsAndTellsTheRecord) {
  v1::ByHand got;
  absl::Time deadline;
  Start({.carry_out = [&](v1::ByHand command,
                          absl::Time by) -> absl::StatusOr<v1::Record> {
           got = command;
           deadline = by;
           v1::Record record;
           record.set_journal_uid("0000cafe");
           record.set_sequence(7);
           *record.mutable_by_hand() = std::move(command);
           record.mutable_by_hand()->mutable_confirm_mass_loss()->add_nodes(
               "b");
           return record;
         },
         .prepare = [](v1::ByHand&) { return absl::OkStatus(); }});
  const absl::StatusOr<v1::ConfirmResponse> answer = Send(Request());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(got.user(), "ada");
  EXPECT_EQ(absl::StrJoin(got.confirm_mass_loss().nodes(), " "), "a");
  EXPECT_EQ(absl::StrJoin(answer->nodes(), " "), "a b");
  EXPECT_EQ(answer->journal_uid(), "0000cafe");
  EXPECT_EQ(answer->sequence(), 7);
  // The caller waits longer than the service keeps a thread for it.
  EXPECT_LT(deadline, absl::Now() + absl::Seconds(6));
}

TEST_F(OperatorServiceTest, ShowingCarriesNothingOut) {
  bool carried_out = false;
  Start(
      {.carry_out = [&](v1::ByHand, absl::Time) -> absl::StatusOr<v1::Record> {
         carried_out = true;
         return v1::Record();
       },
       .prepare =
           [](v1::ByHand& command) {
             command.mutable_confirm_mass_loss()->add_nodes("b");
             return absl::OkStatus();
           }});
  v1::ConfirmRequest request = Request();
  request.set_show_only(true);
  const absl::StatusOr<v1::ConfirmResponse> answer = Send(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(absl::StrJoin(answer->nodes(), " "), "a b");
  EXPECT_EQ(answer->journal_uid(), "");
  EXPECT_FALSE(carried_out);
}

TEST_F(OperatorServiceTest, ErrorsComeAsTheyAre) {
  Start(
      {.carry_out = [](v1::ByHand, absl::Time) -> absl::StatusOr<v1::Record> {
         return absl::FailedPreconditionError("nothing stands");
       },
       .prepare =
           [](v1::ByHand&) { return absl::InvalidArgumentError("no user"); }});
  v1::ConfirmRequest request = Request();
  absl::Status status = Send(request).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::EndsWith(status.message(), ": nothing stands")) << status;
  request.set_show_only(true);
  status = Send(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST_F(OperatorServiceTest, WithoutALoopItIsNotServed) {
  Start({});
  EXPECT_TRUE(absl::IsUnimplemented(Send(Request()).status()));
}

}  // namespace
}  // namespace gpubinder
