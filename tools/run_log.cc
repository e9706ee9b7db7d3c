#include "tools/run_log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tools/effect_line.h"

namespace gpubinder {
namespace {

// JSON's quoting, without the quotes: the pattern has them.
std::string Quoted(const std::string& text) {
  const std::string dumped = nlohmann::json(text).dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  return dumped.substr(1, dumped.size() - 2);
}

}  // namespace

RunLog::RunLog(LogFormat format) {
  auto logger = spdlog::stderr_color_mt("gpubinder");
  spdlog::set_default_logger(logger);
  spdlog::flush_on(spdlog::level::info);
  json_ = format == LogFormat::kJson;
  spdlog::set_pattern(
      json_ ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","msg":"%v"})"
            : "%Y-%m-%dT%H:%M:%S.%fZ %^%L%$ %v",
      spdlog::pattern_time_type::utc);
}

void RunLog::Info(const std::string& message) {
  spdlog::info("{}", json_ ? Quoted(message) : message);
}

void RunLog::Error(const std::string& message) {
  spdlog::error("{}", json_ ? Quoted(message) : message);
}

void RunLog::Report(const PassResult& result) {
  if (result.mass_loss != mass_loss_) {
    mass_loss_ = result.mass_loss;
    Error(mass_loss_ ? absl::StrCat(
                           result.unkept_nodes.size(),
                           " nodes do not keep their claims, the first \'",
                           result.unkept_nodes.begin()->first,
                           "\'; so many at once that nothing is ended or lost "
                           "until they return, or `gpubinder confirm`")
                     : "the mass loss is over");
  }
  const UndoneRecords& undone = result.undone;
  if (undone.records > 0 && undone.example != undone_) {
    undone_ = undone.example;
    Error(absl::StrCat("somebody changes or deletes usage records: ",
                       undone.records, ", the first Workload \'", undone_,
                       "\'; each is written again once a minute"));
  }
}

void RunLog::Pass(const FinishedPass& pass) {
  if (pass.record.role() != v1::LEADER) return;
  Report(pass.result);
  for (const v1::Effect& effect : pass.result.effects) {
    const std::optional<std::string> line = EffectLine(effect);
    if (line.has_value()) {
      Info(absl::StrCat(*line, " [", pass.record.sequence(), "]"));
    }
  }
}

void RunLog::Outcome(const v1::Record& record) {
  const v1::Outcome& outcome = record.outcome();
  if (outcome.kind() == v1::Outcome::APPLIED ||
      outcome.kind() == v1::Outcome::SKIPPED) {
    return;
  }
  Error(absl::StrCat("effect ", outcome.effect(), " of decision ",
                     outcome.decision(), ": ",
                     v1::Outcome::Kind_Name(outcome.kind()), " ",
                     outcome.code(), " ", outcome.message()));
}

void RunLog::Trouble(Kind kind, const absl::Status& status) {
  // Asked again once a minute, for as long as it is not there.
  if (absl::IsNotFound(status)) return;
  Error(absl::StrCat("watching ", KindName(kind), ": ",
                     std::string(status.message())));
}

void RunLog::Leadership(const LeaderState& state) {
  if (!state.last.ok()) {
    Error(absl::StrCat("lease: ", std::string(state.last.message())));
    return;
  }
  Info(state.leading ? absl::StrCat("leading, epoch ", state.epoch)
                     : absl::StrCat("not leading; the lease is held by '",
                                    state.holder, "'"));
}

}  // namespace gpubinder
