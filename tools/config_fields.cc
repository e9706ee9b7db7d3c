#include "tools/config_fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "reconciler/model/pod_request.h"
#include "tools/config_file.h"

namespace gpubinder {
namespace {

absl::Status Found(absl::string_view text, absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("found \"", text.substr(0, 64), "\", want ", want));
}

ConfigField Switch(std::string name, bool Config::*field, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = ConfigType::kSwitch,
          .set =
              [field](absl::string_view text, Config& config) {
                const absl::StatusOr<bool> value = ParseSwitch(text);
                if (value.ok()) config.*field = *value;
                return value.status();
              },
          .text =
              [field](const Config& config) {
                return std::string(config.*field ? "true" : "false");
              }};
}

struct Range {
  int64_t least, most;
};

ConfigField Whole(std::string name, int64_t Config::*field, Range range,
                  std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = ConfigType::kWhole,
          .set =
              [field, range](absl::string_view text, Config& config) {
                int64_t value = 0;
                if (!absl::SimpleAtoi(text, &value) || value < range.least ||
                    value > range.most) {
                  return Found(text,
                               absl::StrCat("a whole number from ", range.least,
                                            " to ", range.most));
                }
                config.*field = value;
                return absl::OkStatus();
              },
          .text =
              [field](const Config& config) {
                return absl::StrCat(config.*field);
              }};
}

ConfigField Time(std::string name, absl::Duration Config::*field,
                 std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = ConfigType::kDuration,
          .set =
              [field](absl::string_view text, Config& config) {
                const absl::StatusOr<absl::Duration> value =
                    ParseGoDuration(text);
                if (value.ok()) config.*field = *value;
                return value.status();
              },
          .text =
              [field](const Config& config) {
                const absl::Duration value = config.*field;
                constexpr absl::Duration kDay = absl::Hours(24);
                if (value >= kDay && value % kDay == absl::ZeroDuration()) {
                  return absl::StrCat(value / kDay, "d");
                }
                return absl::FormatDuration(value);
              }};
}

// A DNS label (RFC 1123); with `open_end`, the beginning of one.
bool IsDnsLabel(absl::string_view text, bool open_end) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' &&
         (open_end || text.back() != '-') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

ConfigField Text(std::string name, std::string Config::*field,
                 bool (*is_legal)(absl::string_view), std::string want,
                 std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = ConfigType::kText,
          .set =
              [field, is_legal, want](absl::string_view text, Config& config) {
                if (!is_legal(text)) return Found(text, want);
                config.*field = std::string(text);
                return absl::OkStatus();
              },
          .text = [field](const Config& config) { return config.*field; }};
}

ConfigField RawResourceNames() {
  return {.name = "rawResourceNames",
          .help =
              "policy for GPU resource names used directly: allowed or "
              "denied; the admission policies read it from the settings",
          .type = ConfigType::kChoice,
          .set =
              [](absl::string_view text, Config& config) {
                if (text != "allowed" && text != "denied") {
                  return Found(text, "allowed or denied");
                }
                config.raw_resource_names_allowed = text == "allowed";
                return absl::OkStatus();
              },
          .text =
              [](const Config& config) {
                return std::string(
                    config.raw_resource_names_allowed ? "allowed" : "denied");
              }};
}

ConfigField ExtraResourceNames() {
  return {.name = "extraResourceNames",
          .help = "GPU resource names that no class has, separated by commas",
          .type = ConfigType::kList,
          .set =
              [](absl::string_view text, Config& config) {
                if (!IsExtendedResource(text)) {
                  return Found(text,
                               "the name of an extended resource, as in "
                               "nvidia.com/H100");
                }
                config.extra_resource_names.emplace_back(text);
                return absl::OkStatus();
              },
          .clear = [](Config& config) { config.extra_resource_names.clear(); },
          .text =
              [](const Config& config) {
                return absl::StrJoin(config.extra_resource_names, ",");
              }};
}

ConfigField JournalMaxBytes() {
  return {.name = "journalMaxBytes",
          .help = "how large the journal may grow; no effect yet",
          .type = ConfigType::kBytes,
          .set =
              [](absl::string_view text, Config& config) {
                const absl::StatusOr<int64_t> value = ParseBytes(text);
                if (value.ok()) config.journal_max_bytes = *value;
                return value.status();
              },
          .text =
              [](const Config& config) {
                constexpr int64_t kGiB = int64_t{1} << 30;
                const int64_t value = config.journal_max_bytes;
                return value % kGiB == 0 ? absl::StrCat(value / kGiB, "GiB")
                                         : absl::StrCat(value);
              }};
}

bool IsNotEmpty(absl::string_view text) {
  return !text.empty() && text.size() <= 1024 &&
         std::none_of(text.begin(), text.end(), absl::ascii_iscntrl);
}

constexpr int64_t kMany = 1000000;

std::vector<ConfigField> MakeFields() {
  using C = Config;
  return {
      Switch("enabled", &C::enabled, "=false: nothing is placed or pinned"),
      Time("attachmentGrace", &C::attachment_grace,
           "how long an attachment may wait for its VMI"),
      Time("nodeGoneGrace", &C::node_gone_grace,
           "how long a node object may be absent before it counts as gone"),
      Switch("endRunning", &C::end_running,
             "whether a running VMI may be ended for lost capacity"),
      Whole("maxEndingsPerNode", &C::max_endings_per_node, {0, kMany},
            "VMIs of a node that are ended at a time"),
      Whole("maxEndings", &C::max_endings, {0, kMany},
            "VMIs that are ended in 10 minutes"),
      Whole("massLossThreshold", &C::mass_loss_threshold, {0, 100},
            "nothing is ended or lost when more than so many per cent of the "
            "nodes with bookings, and at least 3 nodes within 10 minutes, stop "
            "keeping their claims; 100: off"),
      Time("rejectionTTL", &C::rejection_ttl,
           "how long a node that refused is passed over"),
      Time("refusalGrace", &C::refusal_grace,
           "how long a scheduler's refusal must stand"),
      Time("capacityGrace", &C::capacity_grace,
           "how long allocatable may be below what is booked"),
      Time("notReadyGrace", &C::not_ready_grace,
           "how long a node may be not Ready"),
      RawResourceNames(),
      ExtraResourceNames(),
      Text(
          "tenantPrefix", &C::tenant_prefix,
          [](absl::string_view t) { return IsDnsLabel(t, true); },
          "the beginning of a namespace's name",
          "namespaces that form the tenant tree begin with it"),
      Text(
          "namespace", &C::name_space,
          [](absl::string_view t) { return IsDnsLabel(t, false); },
          "the name of a namespace", "where lease, settings and binder live"),
      Text("kubevirtControllerUser", &C::kubevirt_controller_user, IsNotEmpty,
           "the name of a user", "who makes launcher pods"),
      Time("leaseDuration", &C::lease_duration,
           "after which a silent leader is replaced"),
      Time("renewDeadline", &C::renew_deadline,
           "within which a leader must renew"),
      Time("retryPeriod", &C::retry_period, "between tries to get the lease"),
      Time("requestTimeout", &C::request_timeout, "of one write"),
      Time("journalMaxAge", &C::journal_max_age,
           "how long records are kept; no effect yet"),
      JournalMaxBytes(),
      Switch("observe", &C::observe, "run shadow passes and write nothing"),
  };
}

// The first duration must be the longer one.
struct Longer {
  absl::string_view name;
  absl::Duration value;
  absl::string_view than_name;
  absl::Duration than;
};

}  // namespace

const std::vector<ConfigField>& ConfigFields() {
  static const auto& fields = *new std::vector<ConfigField>(MakeFields());
  return fields;
}

absl::Status CheckConfig(const Config& config) {
  const Longer orders[] = {
      {"leaseDuration", config.lease_duration, "renewDeadline",
       config.renew_deadline},
      {"renewDeadline", config.renew_deadline, "retryPeriod",
       config.retry_period},
      // A write starts only when it can end before the deadline.
      {"renewDeadline", config.renew_deadline, "requestTimeout",
       config.request_timeout},
      {"retryPeriod", config.retry_period, "0", absl::ZeroDuration()},
      {"requestTimeout", config.request_timeout, "0", absl::ZeroDuration()},
      {"journalMaxAge", config.journal_max_age, "0", absl::ZeroDuration()},
  };
  for (const Longer& order : orders) {
    if (order.value > order.than) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        order.name, ": found ", absl::FormatDuration(order.value),
        ", want more than ", order.than_name,
        order.than_name == "0"
            ? ""
            : absl::StrCat(", which is ", absl::FormatDuration(order.than))));
  }
  constexpr int64_t kLeastBytes = 64 << 20;
  if (config.journal_max_bytes < kLeastBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("journalMaxBytes: found ", config.journal_max_bytes,
                     " bytes, want at least ", kLeastBytes >> 20, "MiB"));
  }
  return absl::OkStatus();
}

}  // namespace gpubinder
