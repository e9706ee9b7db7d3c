#include "journal/dictionary.h"

namespace gpubinder {
namespace {

constexpr unsigned char kBytes[] = {
#include "journal/dictionary_bytes.inc"
};

}  // namespace

absl::string_view Dictionary() {
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

}  // namespace gpubinder
