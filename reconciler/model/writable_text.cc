#include "reconciler/model/writable_text.h"

#include <cstddef>

namespace gpubinder {
namespace {

constexpr size_t kMostBytes = 1024;

bool IsUtf8(const std::string& text) {
  size_t follow = 0;
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (follow > 0) {
      if ((byte & 0xc0) != 0x80) return false;
      --follow;
    } else if (byte >= 0xf0) {
      follow = 3;
    } else if (byte >= 0xe0) {
      follow = 2;
    } else if (byte >= 0xc0) {
      follow = 1;
    } else if (byte >= 0x80) {
      return false;
    }
  }
  return follow == 0;
}

}  // namespace

bool IsWritableText(const std::string& text) {
  return text.size() <= kMostBytes && IsUtf8(text);
}

}  // namespace gpubinder
