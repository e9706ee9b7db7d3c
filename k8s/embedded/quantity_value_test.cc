#include "k8s/embedded/quantity_value.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

TEST(MilliOf, ReadsTheGrammar) {  // QG-1 to QG-3, QR-1
  const std::vector<std::pair<std::string, std::optional<absl::int128>>> cases =
      {{"1", 1000},
       {"1500m", 1500},
       {"1.5", 1500},
       {"1k", 1000000},
       {"1Ki", 1024000},
       {".5", 500},
       {"1E", absl::int128(1000) * 1000000000000000000},
       {"1E3", 1000000},
       {"1e-3", 1},
       {"1n", 1},
       {"1001u", 2},
       {"-2", -2000},
       {"+5", 5000},
       {"", std::nullopt},
       {"1K", std::nullopt},
       {"1e", std::nullopt},
       {"x", std::nullopt},
       {"1Kib", std::nullopt},
       {"1 ", std::nullopt},
       {"1e999", std::nullopt}};
  for (const auto& [text, milli] : cases) {
    EXPECT_EQ(MilliOf(text), milli) << text;
  }
}

TEST(PodAmounts, AddSidecarsAndTakeTheLargestInit) {  // PR-1, PR-2, PR-4
  const Json pod = *ParseJson(R"({"spec":{
      "overhead":{"cpu":"1"},
      "initContainers":[
        {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
        {"resources":{"requests":{"cpu":"7","x.y/z":"1"}}}],
      "containers":[{"resources":{"requests":{"cpu":"3"}}},
                    {"resources":{"requests":{"cpu":"1"}}}]}})");
  // Containers 4 + sidecar 2 = 6; the plain init runs beside the sidecar: 9.
  EXPECT_EQ(PodAmounts(pod, "requests"),
            (Amounts{{"cpu", 10000}, {"x.y/z", 1000}}));
}

TEST(IsExtended, NeedsAForeignDomain) {  // ER-1
  EXPECT_TRUE(IsExtended("nvidia.com/GH100_H100"));
  EXPECT_FALSE(IsExtended("cpu"));
  EXPECT_FALSE(IsExtended("kubernetes.io/x"));
  EXPECT_FALSE(IsExtended("requests.nvidia.com/x"));
}

}  // namespace
}  // namespace gpubinder::embedded
