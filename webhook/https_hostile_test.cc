// Thousands of malformed requests, from a seed: each gets an answer or a close,
// none ends the server, and afterwards it serves as before.
//
// GPUBINDER_TEST_SEED repeats a run, GPUBINDER_HOSTILE_REQUESTS makes it
// longer.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "webhook/https_fixture.h"

namespace gpubinder {
namespace {

using Random = std::mt19937_64;

uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  uint64_t number = 0;
  if (given != nullptr && absl::SimpleAtoi(given, &number)) return number;
  return otherwise;
}

class Attacker {
 public:
  Attacker(uint64_t seed, std::string good)
      : random_(seed), good_(std::move(good)) {}

  size_t Below(size_t end) { return random_() % end; }

  std::string Bytes() {
    switch (Below(6)) {
      case 0:
        return Noise(Below(2000));
      case 1:
        return Mutated(good_);
      case 2:
        return good_.substr(0, Below(good_.size()));
      case 3:
        return absl::StrCat(good_, Mutated(good_));
      case 4:
        return WithOddBody();
      default:
        return OddHead();
    }
  }

 private:
  std::string Noise(size_t size) {
    std::string noise(size, ' ');
    for (char& c : noise) c = static_cast<char>(random_());
    return noise;
  }

  std::string Mutated(std::string text) {
    for (size_t left = 1 + Below(8); left > 0; --left) {
      // Mostly in the head.
      const size_t at = Below(Below(2) == 0 ? text.size() : 250) % text.size();
      switch (Below(5)) {
        case 0:
          text[at] = static_cast<char>(random_());
          break;
        case 1:
          text.erase(at, 1 + Below(20));
          break;
        case 2:
          text.insert(at, Noise(1 + Below(8)));
          break;
        case 3:
          text.insert(at, text.substr(Below(text.size()), Below(100)));
          break;
        default:
          text.insert(at, "\r\n");
      }
      if (text.empty()) return text;
    }
    return text;
  }

  std::string WithOddBody() {
    const size_t begin = good_.find("\r\n\r\n") + 4;
    return ReviewRequestText(Below(2) == 0 ? "/mutate-pod" : "/mutate-vmi",
                             Mutated(good_.substr(begin)));
  }

  const std::string& Of(const std::vector<std::string>& words) {
    return words[Below(words.size())];
  }

  std::string OddHead() {
    static const std::vector<std::string> kStarts = {
        "POST /mutate-pod HTTP/1.1",
        "POST /mutate-vmi HTTP/1.1",
        "GET /healthz HTTP/1.1",
        "GET  /healthz HTTP/1.1",
        "PRI * HTTP/2.0",
        "POST /mutate-pod HTTP/9.9",
        "CONNECT a:1 HTTP/1.1",
        "post /mutate-pod HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET /%00/../../etc HTTP/1.0",
        "POST /mutate-pod",
        ""};
    static const std::vector<std::string> kFields = {
        "Host: a",
        "Host: a",
        "Host:",
        "Content-Type: application/json",
        "Content-Type: application/json",
        "Content-Type: text/xml",
        "Content-Length: 10",
        "Content-Length: -1",
        "Content-Length: 99999999999999999999999",
        "Content-Length: 8388609",
        "Content-Length: 5, 5",
        "Content-Length: 5, 6",
        "Content-Length: 0x10",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: identity",
        "Expect: 100-continue",
        "Connection: close, keep-alive, upgrade",
        "Upgrade: h2c",
        " folded: line",
        "no colon",
        "\tX: y",
        "X\x01: y",
        "Range: bytes=0-1"};
    static const std::vector<std::string> kBodies = {"",
                                                     "5\r\nhello\r\n0\r\n\r\n",
                                                     "ffffffffffffffffff\r\nx",
                                                     "-5\r\nhello\r\n",
                                                     "5;x=\"\r\n\r\nhello",
                                                     "0\r\nTrailer: x\r\n\r\n",
                                                     "{}",
                                                     "[[[[[[[[[[[[[[[[[[[[[[[[",
                                                     "hello hello hello"};
    std::string text = absl::StrCat(Of(kStarts), "\r\n");
    for (size_t left = Below(8); left > 0; --left) {
      absl::StrAppend(&text, Of(kFields), Below(20) == 0 ? "\n" : "\r\n");
    }
    if (Below(50) == 0) absl::StrAppend(&text, "X: ", Noise(20000));
    return absl::StrCat(text, "\r\n", Of(kBodies));
  }

  Random random_;
  const std::string good_;
};

// Whether it is nothing, or answers one after the other.
bool IsHttp(absl::string_view answers) {
  while (!answers.empty()) {
    if (!absl::StartsWith(answers, "HTTP/1.")) return false;
    const size_t end = answers.find("\r\n\r\n");
    if (end == absl::string_view::npos) return false;
    size_t size = 0;
    for (absl::string_view line :
         absl::StrSplit(answers.substr(0, end), "\r\n")) {
      if (!absl::ConsumePrefix(&line, "Content-Length: ")) continue;
      if (!absl::SimpleAtoi(line, &size)) return false;
    }
    if (end + 4 + size > answers.size()) return false;
    answers.remove_prefix(end + 4 + size);
  }
  return true;
}

TEST(HttpsHostileTest, IsHttpKnowsAnswers) {
  EXPECT_TRUE(IsHttp(""));
  EXPECT_TRUE(IsHttp("HTTP/1.1 100 Continue\r\n\r\n"));
  EXPECT_TRUE(IsHttp("HTTP/1.1 400 x\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_FALSE(IsHttp("HTTP/1.1 400 x\r\nContent-Length: 2\r\n\r\nx"));
  EXPECT_FALSE(IsHttp("HTTP/1.1 400 x\r\n"));
}

// In KiB.
int64_t MemoryUsed() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    absl::string_view rest = line;
    int64_t size = 0;
    if (absl::ConsumePrefix(&rest, "VmRSS:") &&
        absl::ConsumeSuffix(&rest, "kB") && absl::SimpleAtoi(rest, &size)) {
      return size;
    }
  }
  return 0;
}

class HttpsHostileRun : public HttpsTest {
 protected:
  // What comes back to `bytes`, to the end.
  std::string Attack(const std::string& bytes, bool in_tls) {
    TlsTestClient client(server_->port());
    if (in_tls) EXPECT_TRUE(client.Handshake());
    client.Send(bytes);
    client.EndSending();
    return client.ReadToEnd();
  }
};

TEST_F(HttpsHostileRun, AnyBytesGetAnAnswerOrAClose) {
  const uint64_t seed =
      NumberFrom("GPUBINDER_TEST_SEED", std::random_device()());
  const uint64_t requests = NumberFrom("GPUBINDER_HOSTILE_REQUESTS", 2000);
  std::cout << "GPUBINDER_TEST_SEED=" << seed << std::endl;
  Start();
  EXPECT_EQ(Ask(PodText()).code, 200);
  Attacker attacker(seed, PodText());
  const int64_t memory = MemoryUsed();
  std::vector<absl::Duration> times;
  for (uint64_t i = 0; i < requests; ++i) {
    const std::string bytes = attacker.Bytes();
    const bool in_tls = attacker.Below(10) != 0;
    const absl::Time begun = absl::Now();
    const std::string answers = Attack(bytes, in_tls);
    times.push_back(absl::Now() - begun);
    if (in_tls) ASSERT_TRUE(IsHttp(answers)) << i << ": " << answers;
  }
  std::sort(times.begin(), times.end());
  std::cout << requests << " connections, half within "
            << times[times.size() / 2] << ", 99% within "
            << times[times.size() * 99 / 100] << ", the last in "
            << times.back() << "; " << MemoryUsed() - memory << " KiB more"
            << std::endl;
  EXPECT_EQ(Ask(PodText()).code, 200);
  server_->Stop(absl::Seconds(20));
  EXPECT_EQ(server_->open_connections(), 0u);
  EXPECT_GT(server_->Count(HttpsEvent::kRefused), requests / 10);
  EXPECT_EQ(server_->Count(HttpsEvent::kTooSlow), 0u);
}

}  // namespace
}  // namespace gpubinder
