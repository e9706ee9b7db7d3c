#include "reconciler/explain_service.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/explain.grpc.pb.h"
#include "reconciler/explain_client.h"
#include "reconciler/model/table.h"
#include "reconciler/pass_board.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);

// A pass with one set, t/web, whose message tells the pass's number.
std::shared_ptr<const PublishedPass> PassOf(uint64_t sequence) {
  auto pass = std::make_shared<PublishedPass>();
  pass->source.set_sequence(sequence);
  PublishedSet set;
  set.explanation.set_namespace_("t");
  set.explanation.set_name("web");
  set.explanation.set_key("t/web");
  set.explanation.set_message(absl::StrCat(sequence));
  pass->namespaces["t"] =
      std::make_shared<const PublishedNamespace>(NamespaceOf({set}));
  PublishedNode node{.name = "a", .units = {v1::NodeUnits()}};
  node.units[0].set_node("a");
  pass->nodes = {std::make_shared<const PublishedNode>(node)};
  return pass;
}

v1::ExplainRequest Ask(const char* name) {
  v1::ExplainRequest request;
  request.set_namespace_("t");
  request.set_name(name);
  return request;
}

class ExplainServiceTest : public testing::Test {
 protected:
  void Start(ExplainService::Options options = {}) {
    auto service = ExplainService::Start(options, board_);
    ASSERT_TRUE(service.ok()) << service.status();
    service_ = *std::move(service);
    address_ = absl::StrCat("127.0.0.1:", service_->port());
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = grpc::CreateCustomChannel(
        address_, grpc::InsecureChannelCredentials(), arguments);
  }
  // A call with no stub: the answer's bytes, or the name of the code.
  std::string Raw(const std::string& method, const std::string& body) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext call;
    const grpc::Slice slice(body);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    grpc::CompletionQueue queue;
    auto reader = stub.PrepareUnaryCall(&call, method, request, &queue);
    reader->StartCall();
    grpc::Status status;
    reader->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    if (!status.ok()) return absl::StrCat("code ", status.error_code());
    grpc::Slice bytes;
    EXPECT_TRUE(response.DumpToSingleSlice(&bytes).ok());
    return std::string(bytes.begin(), bytes.end());
  }

  PassBoard board_;
  std::unique_ptr<ExplainService> service_;
  std::string address_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ExplainServiceTest, ExplainsFromTheLatestPass) {
  board_.Publish(PassOf(7));
  Start();
  EXPECT_GT(service_->port(), 0);
  const auto answer = QueryExplain(address_, Ask("web"), kTimeout);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->source().sequence(), 7u);
  EXPECT_EQ(answer->explanation().message(), "7");
  board_.Publish(PassOf(8));
  EXPECT_EQ(QueryExplain(address_, Ask("web"), kTimeout)->source().sequence(),
            8u);
}

TEST_F(ExplainServiceTest, BeforeTheFirstPassItIsUnavailable) {
  Start();
  const auto answer = QueryExplain(address_, Ask("web"), kTimeout);
  EXPECT_TRUE(absl::IsUnavailable(answer.status()));
  EXPECT_EQ(answer.status().message(),
            absl::StrCat("explaining \"t/web\" by the binder at ", address_,
                         ": no pass has finished since the binder started"));
}

TEST_F(ExplainServiceTest, NotFoundNamesTheObject) {
  board_.Publish(PassOf(7));
  Start();
  const auto answer = QueryExplain(address_, Ask("nobody"), kTimeout);
  EXPECT_TRUE(absl::IsNotFound(answer.status()));
  EXPECT_NE(answer.status().message().find("\"t/nobody\""),
            absl::string_view::npos);
}

TEST_F(ExplainServiceTest, ListsSetsNodesAndTheJournalsMarks) {
  board_.Publish(PassOf(7));
  Start({.journal_marks = [] {
    return JournalMarks{.first = 1, .last = 9, .synced = 8};
  }});
  auto placement = v1::Placement::NewStub(channel_);
  auto journal = v1::Journal::NewStub(channel_);
  grpc::ClientContext sets_call, nodes_call, status_call;
  v1::ListSetsResponse sets;
  v1::ListNodesResponse nodes;
  v1::StatusResponse status;
  EXPECT_TRUE(placement->ListSets(&sets_call, {}, &sets).ok());
  EXPECT_TRUE(placement->ListNodes(&nodes_call, {}, &nodes).ok());
  EXPECT_TRUE(journal->Status(&status_call, {}, &status).ok());
  ASSERT_EQ(sets.sets_size(), 1);
  EXPECT_EQ(sets.sets(0).name(), "web");
  ASSERT_EQ(nodes.units_size(), 1);
  EXPECT_EQ(nodes.units(0).node(), "a");
  EXPECT_EQ(status.source().sequence(), 7u);
  EXPECT_EQ(status.first_sequence(), 1u);
  EXPECT_EQ(status.synced_sequence(), 8u);
  EXPECT_EQ(status.last_sequence(), 9u);
}

TEST_F(ExplainServiceTest, OtherCallsAreUnimplemented) {
  board_.Publish(PassOf(7));
  Start();
  for (const char* method :
       {"Placement/WhatIf", "Placement/GetDecision", "Placement/WatchDecisions",
        "Journal/Tail", "Journal/Dump"}) {
    EXPECT_EQ(Raw(absl::StrCat("/gpubinder.v1.", method), ""), "code 12")
        << method;
  }
}

TEST_F(ExplainServiceTest, WithoutAJournalItsStatusIsUnimplemented) {
  board_.Publish(PassOf(7));
  Start();
  EXPECT_EQ(Raw("/gpubinder.v1.Journal/Status", ""), "code 12");
}

TEST_F(ExplainServiceTest, SpeaksTheHealthProtocol) {
  Start();
  const std::string check = "/grpc.health.v1.Health/Check";
  const std::string serving = "\x08\x01";  // status: SERVING
  EXPECT_EQ(Raw(check, ""), serving);
  EXPECT_EQ(Raw(check, "\x0a\x16gpubinder.v1.Placement"), serving);
  EXPECT_EQ(Raw(check, "\x0a\x01x"), "code 5");
}

TEST_F(ExplainServiceTest, ReflectsOnRequestOnly) {
  const std::string method =
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  const std::string list_services = "\x3a\x01*";
  Start({.reflection = ExplainService::Reflection::kOn});
  EXPECT_NE(Raw(method, list_services).find("gpubinder.v1.Placement"),
            std::string::npos);
  service_.reset();
  Start();
  EXPECT_EQ(Raw(method, list_services), "code 12");
}

TEST_F(ExplainServiceTest, OversizedRequestIsRefused) {
  board_.Publish(PassOf(7));
  Start();
  v1::ExplainRequest request = Ask("web");
  request.set_namespace_(std::string(100'000, 'n'));
  EXPECT_TRUE(absl::IsResourceExhausted(
      QueryExplain(address_, request, kTimeout).status()));
}

TEST_F(ExplainServiceTest, ListensOnLoopbackOnly) {
  for (const char* address :
       {"0.0.0.0:0", "[::]:0", "10.0.0.1:80", "127.0.0.1", "127.0.0.1:x",
        "127.0.0.1:65536", "127.0.0.256:0", "127.0.0.1.example.com:0", "", ":0",
        "unix:/tmp/x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        ExplainService::Start({.address = address}, board_).status()))
        << address;
  }
}

TEST_F(ExplainServiceTest, PortInUseIsAnError) {
  Start();
  const absl::Status status =
      ExplainService::Start({.address = address_}, board_).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_NE(status.message().find(address_), absl::string_view::npos);
}

TEST_F(ExplainServiceTest, QueriesWhilePublishingSeeWholePasses) {
  board_.Publish(PassOf(1));
  Start();
  std::atomic<bool> done = false;
  std::thread publisher([&] {
    for (uint64_t i = 2; !done; ++i) board_.Publish(PassOf(i));
  });
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&] {
      auto placement = v1::Placement::NewStub(channel_);
      uint64_t last = 0;
      for (int i = 0; i < 200; ++i) {
        grpc::ClientContext call;
        v1::ExplainResponse answer;
        const grpc::Status status =
            placement->Explain(&call, Ask("web"), &answer);
        ASSERT_TRUE(status.ok()) << status.error_message();
        const uint64_t sequence = answer.source().sequence();
        ASSERT_EQ(answer.explanation().message(), absl::StrCat(sequence));
        ASSERT_GE(sequence, last);
        last = sequence;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  done = true;
  publisher.join();
}

TEST(QueryExplain, NobodyListensIsUnavailable) {
  PassBoard board;
  int port = 0;
  {
    auto service = ExplainService::Start({}, board);
    ASSERT_TRUE(service.ok());
    port = (*service)->port();
  }
  const absl::Status status =
      QueryExplain(absl::StrCat("127.0.0.1:", port), Ask("web"), kTimeout)
          .status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST(QueryExplain, EndsAtItsDeadlineWhenNoAnswerComes) {
  // A socket that takes connections and says nothing.
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(place);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size);
  const absl::Status status =
      QueryExplain(absl::StrCat("127.0.0.1:", ntohs(place.sin_port)),
                   Ask("web"), absl::Milliseconds(200))
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  close(listener);
}

}  // namespace
}  // namespace gpubinder
