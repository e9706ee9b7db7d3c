#include "tools/bench/pass_under_test.h"

#include "absl/strings/str_cat.h"

namespace gpubinder::bench {

std::string BytesOf(const PassResult& result) {
  std::string bytes = ToRecord(result, 1).SerializeAsString();
  auto add = [&bytes](const std::string& text) {
    absl::StrAppend(&bytes, text.size(), ":", text);
  };
  for (const SetView& view : result.sets) {
    add(view.set.key());
    absl::StrAppend(&bytes, view.frozen, ";", view.verdict.reason, ";");
    add(view.verdict.node);
    for (const v1::ReasonDetail& detail : view.verdict.details) {
      add(detail.SerializeAsString());
    }
    for (const NodeGroup& group : view.verdict.groups) {
      for (const v1::ReasonDetail& reason : group.reasons) {
        add(reason.SerializeAsString());
      }
      for (const std::string& node : group.nodes) add(node);
    }
  }
  return bytes;
}

}  // namespace gpubinder::bench
