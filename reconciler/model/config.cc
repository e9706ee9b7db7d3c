#include "reconciler/model/config.h"

namespace gpubinder {

v1::ConfigLoaded ConfigRecord(const Config& config) {
  v1::ConfigLoaded record;
  record.set_enabled(config.enabled);
  record.set_end_running(config.end_running);
  record.set_max_endings_per_node(config.max_endings_per_node);
  record.set_max_endings(config.max_endings);
  record.set_mass_loss_threshold(config.mass_loss_threshold);
  record.set_raw_resource_names_allowed(config.raw_resource_names_allowed);
  record.set_tenant_prefix(config.tenant_prefix);
  record.set_kubevirt_controller_user(config.kubevirt_controller_user);
  record.set_journal_max_bytes(config.journal_max_bytes);
  record.set_observe(config.observe);
  record.set_namespace_(config.name_space);
  record.set_attachment_grace(
      absl::ToInt64Nanoseconds(config.attachment_grace));
  record.set_node_gone_grace(absl::ToInt64Nanoseconds(config.node_gone_grace));
  record.set_rejection_ttl(absl::ToInt64Nanoseconds(config.rejection_ttl));
  record.set_refusal_grace(absl::ToInt64Nanoseconds(config.refusal_grace));
  record.set_capacity_grace(absl::ToInt64Nanoseconds(config.capacity_grace));
  record.set_not_ready_grace(absl::ToInt64Nanoseconds(config.not_ready_grace));
  record.set_lease_duration(absl::ToInt64Nanoseconds(config.lease_duration));
  record.set_renew_deadline(absl::ToInt64Nanoseconds(config.renew_deadline));
  record.set_retry_period(absl::ToInt64Nanoseconds(config.retry_period));
  record.set_request_timeout(absl::ToInt64Nanoseconds(config.request_timeout));
  record.set_journal_max_age(absl::ToInt64Nanoseconds(config.journal_max_age));
  for (const std::string& name : config.extra_resource_names) {
    record.add_extra_resource_names(name);
  }
  return record;
}

Config ConfigOfRecord(const v1::ConfigLoaded& record) {
  Config config;
  config.enabled = record.enabled();
  config.end_running = record.end_running();
  config.max_endings_per_node = record.max_endings_per_node();
  config.max_endings = record.max_endings();
  config.mass_loss_threshold = record.mass_loss_threshold();
  config.raw_resource_names_allowed = record.raw_resource_names_allowed();
  config.tenant_prefix = record.tenant_prefix();
  config.kubevirt_controller_user = record.kubevirt_controller_user();
  config.journal_max_bytes = record.journal_max_bytes();
  config.observe = record.observe();
  config.name_space = record.namespace_();
  config.attachment_grace = absl::Nanoseconds(record.attachment_grace());
  config.node_gone_grace = absl::Nanoseconds(record.node_gone_grace());
  config.rejection_ttl = absl::Nanoseconds(record.rejection_ttl());
  config.refusal_grace = absl::Nanoseconds(record.refusal_grace());
  config.capacity_grace = absl::Nanoseconds(record.capacity_grace());
  config.not_ready_grace = absl::Nanoseconds(record.not_ready_grace());
  config.lease_duration = absl::Nanoseconds(record.lease_duration());
  config.renew_deadline = absl::Nanoseconds(record.renew_deadline());
  config.retry_period = absl::Nanoseconds(record.retry_period());
  config.request_timeout = absl::Nanoseconds(record.request_timeout());
  config.journal_max_age = absl::Nanoseconds(record.journal_max_age());
  config.extra_resource_names.assign(record.extra_resource_names().begin(),
                                     record.extra_resource_names().end());
  return config;
}

}  // namespace gpubinder
