// The zstd dictionary that new journals get. It is copied into the journal, so
// that a journal can be read without this build's.
//
// Trained by //journal:train_dictionary from generated records (corpus.h). A
// new one gets a new file and a new id; journals keep the one they have.

#ifndef JOURNAL_DICTIONARY_H_
#define JOURNAL_DICTIONARY_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gpubinder {

inline constexpr uint16_t kDictionaryId = 1;
absl::string_view Dictionary();

}  // namespace gpubinder

#endif  // JOURNAL_DICTIONARY_H_
