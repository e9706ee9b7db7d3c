#include "proto/utf8.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <vector>

namespace gpubinder {
namespace {

// The bytes of the character that `text` begins with; 0: none that is legal.
size_t CharacterSize(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first < 0xc2   ? 0
                      : first < 0xe0 ? 2
                      : first < 0xf0 ? 3
                      : first < 0xf5 ? 4
                                     : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Forms that are too long, surrogates, and what is beyond U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return size;
}

// Whether there is anything to repair; most text is plain.
bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void RepairField(const FieldDescriptor& field, int index, Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::string scratch;
  if (field.is_repeated()) {
    const std::string& text =
        reflection.GetRepeatedStringReference(message, &field, index, &scratch);
    if (IsUtf8(text)) return;
    reflection.SetRepeatedString(&message, &field, index,
                                 Utf8Within(text, text.size()));
    return;
  }
  const std::string& text =
      reflection.GetStringReference(message, &field, &scratch);
  if (IsUtf8(text)) return;
  reflection.SetString(&message, &field, Utf8Within(text, text.size()));
}

}  // namespace

void RepairText(Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count =
        field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->type() == FieldDescriptor::TYPE_STRING) {
        RepairField(*field, i, message);
      } else if (field->type() == FieldDescriptor::TYPE_MESSAGE) {
        RepairText(*(field->is_repeated()
                         ? reflection.MutableRepeatedMessage(&message, field, i)
                         : reflection.MutableMessage(&message, field)));
      }
    }
  }
}

std::string Utf8Within(absl::string_view text, size_t most) {
  std::string kept;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const size_t taken = size == 0 ? 1 : size;
    if (kept.size() + taken > most) break;
    if (size == 0) {
      kept += '?';
    } else {
      kept.append(text.data(), size);
    }
    text.remove_prefix(taken);
  }
  return kept;
}

}  // namespace gpubinder
