#include "reconciler/model/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gpubinder {
namespace {

using enum QuantityStatus;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct Row {
  absl::string_view text;
  int64_t floor, ceil;
};

void ExpectQuantity(absl::string_view text, QuantityStatus status,
                    int64_t floor, int64_t ceil) {
  SCOPED_TRACE(absl::StrCat("quantity \"", text, "\""));
  const Quantity quantity = ReadQuantity(text);
  EXPECT_EQ(quantity.status, status);
  EXPECT_EQ(quantity.floor, floor);
  EXPECT_EQ(quantity.ceil, ceil);
}

// Upstream's TestQuantityParse by its inputs, each with the whole units its
// value lies between.
constexpr Row kUpstream[] = {
    {"0", 0, 0},
    {"0n", 0, 0},
    {"0u", 0, 0},
    {"0m", 0, 0},
    {"0Ki", 0, 0},
    {"0k", 0, 0},
    {"0Mi", 0, 0},
    {"0M", 0, 0},
    {"0Gi", 0, 0},
    {"0G", 0, 0},
    {"0Ti", 0, 0},
    {"0T", 0, 0},
    {"1", 1, 1},
    {"1Ki", 1024, 1024},
    {"8Ki", 8192, 8192},
    {"7Mi", 7340032, 7340032},
    {"6Gi", 6442450944, 6442450944},
    {"5Ti", 5497558138880, 5497558138880},
    {"4Pi", 4503599627370496, 4503599627370496},
    {"3Ei", 3458764513820540928, 3458764513820540928},
    {"10Ti", 10995116277760, 10995116277760},
    {"100Ti", 109951162777600, 109951162777600},
    {"5n", 0, 1},
    {"4u", 0, 1},
    {"3m", 0, 1},
    {"9", 9, 9},
    {"8k", 8000, 8000},
    {"50k", 50000, 50000},
    {"7M", 7000000, 7000000},
    {"6G", 6000000000, 6000000000},
    {"5T", 5000000000000, 5000000000000},
    {"40T", 40000000000000, 40000000000000},
    {"300T", 300000000000000, 300000000000000},
    {"2P", 2000000000000000, 2000000000000000},
    {"1E", 1000000000000000000, 1000000000000000000},
    {"1E-3", 0, 1},
    {"1e3", 1000, 1000},
    {"1E6", 1000000, 1000000},
    {"1e9", 1000000000, 1000000000},
    {"1E12", 1000000000000, 1000000000000},
    {"1e15", 1000000000000000, 1000000000000000},
    {"1E18", 1000000000000000000, 1000000000000000000},
    {"1e14", 100000000000000, 100000000000000},
    {"1e13", 10000000000000, 10000000000000},
    {"100.035k", 100035, 100035},
    {"0.001", 0, 1},
    {"0.0005k", 0, 1},
    {"0.005", 0, 1},
    {"0.05", 0, 1},
    {"0.5", 0, 1},
    {"0.00050k", 0, 1},
    {"0.00500", 0, 1},
    {"0.05000", 0, 1},
    {"0.50000", 0, 1},
    {"0.5e0", 0, 1},
    {"0.5e-1", 0, 1},
    {"0.5e-2", 0, 1},
    {"10.035M", 10035000, 10035000},
    {"1.2e3", 1200, 1200},
    {"1.3E+6", 1300000, 1300000},
    {"1.40e9", 1400000000, 1400000000},
    {"1.53E12", 1530000000000, 1530000000000},
    {"1.6e15", 1600000000000000, 1600000000000000},
    {"1.7E18", 1700000000000000000, 1700000000000000000},
    {"9.01", 9, 10},
    {"8.1k", 8100, 8100},
    {"7.123456M", 7123456, 7123456},
    {"6.987654321G", 6987654321, 6987654321},
    {"5.444T", 5444000000000, 5444000000000},
    {"40.1T", 40100000000000, 40100000000000},
    {"300.2T", 300200000000000, 300200000000000},
    {"2.5P", 2500000000000000, 2500000000000000},
    {"1.01E", 1010000000000000000, 1010000000000000000},
    {"3.001n", 0, 1},
    {"1.1E-9", 0, 1},
    {"0.0000000001", 0, 1},
    {"0.0000000005", 0, 1},
    {"0.00000000050", 0, 1},
    {"0.5e-9", 0, 1},
    {"0.9n", 0, 1},
    {"0.00000012345", 0, 1},
    {"0.00000012354", 0, 1},
    {"9Ei", kMost, kMost},
    {"9223372036854775807Ki", kMost, kMost},
    {"100.035Ki", 102435, 102436},  // 102435.84
    {"0.5Mi", 524288, 524288},
    {"0.05Gi", 53687091, 53687092},         // 53687091.2
    {"0.025Ti", 27487790694, 27487790695},  // 27487790694.4
    {"0.000000000001Ki", 0, 1},
    {".001", 0, 1},
    {".0001k", 0, 1},
    {"1.", 1, 1},
    {"1.G", 1000000000, 1000000000},
};

TEST(QuantityTest, ReadsUpstreamsTable) {
  for (const Row& row : kUpstream) {
    ExpectQuantity(row.text, kOk, row.floor, row.ceil);
  }
}

TEST(QuantityTest, ReadsUpstreamsTableWithPlus) {
  for (const Row& row : kUpstream) {
    ExpectQuantity(absl::StrCat("+", row.text), kOk, row.floor, row.ceil);
  }
}

TEST(QuantityTest, ReadsUpstreamsTableWithMinus) {
  for (const Row& row : kUpstream) {
    ExpectQuantity(absl::StrCat("-", row.text), row.ceil > 0 ? kNegative : kOk,
                   -row.ceil, -row.floor);
  }
}

TEST(QuantityTest, RefusesWhatIsNoQuantity) {
  for (absl::string_view text :
       {// Upstream's invalid ones, less the white space that JSON takes off.
        "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i", "-3.01i",
        "-3.01e-",
        // Grammar.
        "", " ", "1 0", "1_0", "1,5", "0x10", "--1", "+-1", "1-", "1K", "1ki",
        "1mi", "1Kib", "1kg", "1e", "1e3Ki", "1Ki1", "12nn", "1e1.5", "1e+",
        "1e3e3", "e3x", "\xff", "1\n1", "1EE", "1Ei3"}) {
    ExpectQuantity(text, kUnreadable, 0, 0);
  }
  ExpectQuantity(absl::string_view("1\0", 2), kUnreadable, 0, 0);
}

TEST(QuantityTest, ReadsWhatUpstreamTakesThoughItIsOdd) {
  for (absl::string_view text :
       {"+", "-", ".", "-.", "m", "k", "+.m", "-0", "-0.0", "e1", "E"}) {
    ExpectQuantity(text, kOk, 0, 0);
  }
  ExpectQuantity("+5", kOk, 5, 5);
  ExpectQuantity("05", kOk, 5, 5);
  ExpectQuantity("1E3", kOk, 1000, 1000);
  ExpectQuantity("1e03", kOk, 1000, 1000);
  ExpectQuantity("100e0", kOk, 100, 100);
  ExpectQuantity("1e-0", kOk, 1, 1);
}

TEST(QuantityTest, IgnoresWhiteSpaceAround) {
  ExpectQuantity(" 1", kOk, 1, 1);
  ExpectQuantity("1 ", kOk, 1, 1);
  ExpectQuantity("\t-1\n", kNegative, -1, -1);
}

TEST(QuantityTest, EqualValuesReadEqual) {
  for (absl::string_view text : {"8", "8000m", "8e0", "0.008k", "80e-1",
                                 "8000000000n", "0.0078125Ki", "8.000"}) {
    ExpectQuantity(text, kOk, 8, 8);
  }
}

TEST(QuantityTest, RoundsBelowANanoAwayFromZero) {
  // Nine nines are exact nanos; a tenth rounds up to a whole one.
  ExpectQuantity("0.999999999", kOk, 0, 1);
  ExpectQuantity("0.9999999999", kOk, 1, 1);
  ExpectQuantity("1.0000000001", kOk, 1, 2);
  ExpectQuantity("0.1n", kOk, 0, 1);
  ExpectQuantity("-0.5n", kNegative, -1, 0);
  ExpectQuantity("-0.9999999999", kNegative, -1, -1);
}

TEST(QuantityTest, FloorsAndCeilsNegativeValuesMathematically) {
  ExpectQuantity("-1500m", kNegative, -2, -1);
  ExpectQuantity("-2", kNegative, -2, -2);
}

TEST(QuantityTest, SaysWhatLiesBeyondInt64) {
  ExpectQuantity("9223372036854775807", kOk, kMost, kMost);
  ExpectQuantity("9223372036854775806.5", kOk, kMost - 1, kMost);
  ExpectQuantity("9223372036854775807.000000001", kTooLarge, kMost, kMost);
  ExpectQuantity("9223372036854775808", kTooLarge, kMost, kMost);
  ExpectQuantity("12E", kTooLarge, kMost, kMost);
  ExpectQuantity("100E", kTooLarge, kMost, kMost);
  ExpectQuantity("99999999999999999999", kTooLarge, kMost, kMost);
  ExpectQuantity("-9223372036854775808", kNegative, kLeast, kLeast);
  ExpectQuantity("-9223372036854775809", kNegative, kLeast, kLeast);
  ExpectQuantity("-100E", kNegative, kLeast, kLeast);
}

TEST(QuantityTest, CapsWhatHasABinarySuffixAsUpstreamDoes) {
  ExpectQuantity("7Ei", kOk, 8070450532247928832, 8070450532247928832);
  ExpectQuantity("8Ei", kOk, kMost, kMost);
  ExpectQuantity("-9Ei", kNegative, -kMost, -kMost);
  ExpectQuantity(absl::StrCat(std::string(200, '9'), "Ei"), kOk, kMost, kMost);
}

TEST(QuantityTest, BoundsExponentsWithoutLosingTheAnswer) {
  ExpectQuantity("1e9999999999", kTooLarge, kMost, kMost);
  ExpectQuantity("1e2147483648", kTooLarge, kMost, kMost);
  ExpectQuantity("1e-2147483648", kOk, 0, 1);
  ExpectQuantity("0e9999999999", kOk, 0, 0);
  ExpectQuantity(absl::StrCat("0.", std::string(200, '0'), "7e201"), kOk, 7, 7);
  ExpectQuantity(absl::StrCat("7", std::string(200, '0'), "e-200"), kOk, 7, 7);
}

TEST(QuantityTest, ReadsNoTextOfMoreThan256Bytes) {
  ExpectQuantity(absl::StrCat(std::string(255, '0'), "5"), kOk, 5, 5);
  ExpectQuantity(absl::StrCat(std::string(256, '0'), "5"), kUnreadable, 0, 0);
}

TEST(QuantityTest, FloorAndCeilUnitsAreNothingForWhatCannotBeRead) {
  EXPECT_EQ(FloorUnits("1500m"), 1);
  EXPECT_EQ(CeilUnits("1500m"), 2);
  EXPECT_EQ(FloorUnits("-1500m"), -2);
  EXPECT_EQ(CeilUnits("-1500m"), -1);
  EXPECT_EQ(FloorUnits("1e30"), kMost);
  EXPECT_EQ(CeilUnits("1e30"), kMost);
  EXPECT_EQ(FloorUnits("many"), std::nullopt);
  EXPECT_EQ(CeilUnits("many"), std::nullopt);
}

void ExpectUnits(const Units& units, int64_t value, bool malformed) {
  EXPECT_EQ(units.value, value);
  EXPECT_EQ(units.malformed, malformed);
}

TEST(UnitsTest, AllocatableIsFlooredAndTakesNoBadValue) {
  ExpectUnits(AllocatableUnits("7.9"), 7, false);
  ExpectUnits(AllocatableUnits("0"), 0, false);
  ExpectUnits(AllocatableUnits("9223372036854775807"), kMost, false);
  ExpectUnits(AllocatableUnits("9223372036854775808"), 0, true);
  ExpectUnits(AllocatableUnits("-1"), 0, true);
  ExpectUnits(AllocatableUnits("-1n"), 0, true);
  ExpectUnits(AllocatableUnits("eight"), 0, true);
}

TEST(UnitsTest, BudgetIsFlooredAndSaturates) {
  ExpectUnits(BudgetUnits("7.9"), 7, false);
  ExpectUnits(BudgetUnits("1e30"), kMost, false);
  ExpectUnits(BudgetUnits("-1"), 0, true);
  ExpectUnits(BudgetUnits("eight"), 0, true);
}

TEST(UnitsTest, RequestCountsAFractionUpAndSaturates) {
  ExpectUnits(RequestUnits("1.1"), 2, false);
  ExpectUnits(RequestUnits("2000m"), 2, false);
  ExpectUnits(RequestUnits("1e30"), kMost, false);
  ExpectUnits(RequestUnits("-1"), 0, true);
  ExpectUnits(RequestUnits("eight"), 0, true);
}

}  // namespace
}  // namespace gpubinder
