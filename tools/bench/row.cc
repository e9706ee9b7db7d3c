#include "tools/bench/row.h"

#include <cmath>

#include "nlohmann/json.hpp"

namespace gpubinder::bench {
namespace {

using Json = nlohmann::ordered_json;

// Four digits say all that such a measurement knows.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale =
      std::pow(10, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json SpreadJson(const Spread& spread) {
  return {{"median", Rounded(spread.median)},
          {"min", Rounded(spread.minimum)},
          {"max", Rounded(spread.maximum)}};
}

Json SideJson(const SideResult& side) {
  Json json = {{"what", side.what}};
  json.update(SpreadJson(side.seconds));
  json["cpu_seconds"] = Rounded(side.cpu_seconds);
  return json;
}

Json BarJson(const Row& row, double bar, const RowResult& result) {
  Json json = {
      {row.bound == Bound::kAtMost ? "at_most" : "at_least", Rounded(bar)}};
  if (result.judged) json["holds"] = Holds(row, bar, result.value);
  return json;
}

}  // namespace

bool Holds(const Row& row, double bar, double value) {
  return row.bound == Bound::kAtMost ? value <= bar : value >= bar;
}

std::string JsonLine(const Row& row, const RowOptions& options,
                     const RowResult& result) {
  Json json = {{"row", row.name}};
  if (!result.variant.empty()) json["variant"] = result.variant;
  json["size"] = std::string(SizeName(options.size));
  json["seed"] = options.seed;
  for (const auto& [name, value] : result.sizes) json["sizes"][name] = value;
  json["unit"] = result.unit;
  json["ours"] = SideJson(result.comparison.ours);
  json["theirs"] = SideJson(result.comparison.theirs);
  json["pairs"] = result.comparison.pairs;
  json["ratio"] = SpreadJson(result.comparison.ratio);
  json["value"] = Rounded(result.value);
  json["floor"] = BarJson(row, row.floor, result);
  json["ambitious"] = BarJson(row, row.ambitious, result);
  json["peak_memory_bytes"] = PeakMemoryBytes();
  for (const auto& [name, value] : result.figures) json[name] = Rounded(value);
  for (const auto& [name, word] : result.words) json[name] = word;
  json["checked"] = result.checked;
  json["notes"] = result.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::string_view SizeName(Size size) {
  return size == Size::kFull ? "full" : "small";
}

}  // namespace gpubinder::bench
