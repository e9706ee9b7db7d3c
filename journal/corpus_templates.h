// The JSON of the objects that make up a journal, as an API server sends them
// and less what the filter removes. Words in @...@ are filled in by corpus.cc;
// line breaks and indents are for the reader.

#ifndef JOURNAL_CORPUS_TEMPLATES_H_
#define JOURNAL_CORPUS_TEMPLATES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

// A template without its line breaks and indents.
std::string Packed(absl::string_view text);

extern const char kClaimTemplate[];
extern const char kClaimBoundStatus[];
extern const char kLauncherTemplate[];
extern const char kVmiTemplate[];
extern const char kNodeTemplate[];

}  // namespace gpubinder

#endif  // JOURNAL_CORPUS_TEMPLATES_H_
