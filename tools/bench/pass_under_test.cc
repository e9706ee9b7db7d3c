#include "tools/bench/pass_under_test.h"

#include "absl/strings/str_cat.h"

namespace gpubinder::bench {

std::string BytesOf(const PassResult& result, const Snapshot& snapshot) {
  std::string bytes = ToRecord(result, 1).SerializeAsString();
  auto add = [&bytes](const std::string& text) {
    absl::StrAppend(&bytes, text.size(), ":", text);
  };
  for (const SetView& view : ViewsOf(snapshot)) {
    add(view.set.key());
    absl::StrAppend(&bytes, view.frozen, ";", view.verdict.reason, ";");
    add(view.verdict.node);
    for (const v1::ReasonDetail& detail : view.verdict.details) {
      add(detail.SerializeAsString());
    }
    for (const NodeGroup& group : view.verdict.judged.groups()) {
      for (const v1::ReasonDetail& reason : *group.reasons) {
        add(reason.SerializeAsString());
      }
    }
    view.verdict.judged.ForEachNode([&](const std::string& node, size_t group) {
      add(node);
      absl::StrAppend(&bytes, group, ";");
    });
  }
  return bytes;
}

}  // namespace gpubinder::bench
