// Which texts may stand in a condition or an event.

#ifndef RECONCILER_MODEL_WRITABLE_TEXT_H_
#define RECONCILER_MODEL_WRITABLE_TEXT_H_

#include <string>

namespace gpubinder {

// UTF-8 of at most 1,024 bytes.
bool IsWritableText(const std::string& text);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_WRITABLE_TEXT_H_
