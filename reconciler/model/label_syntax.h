// What Kubernetes takes for a legal label key, label value and object name.

#ifndef RECONCILER_MODEL_LABEL_SYNTAX_H_
#define RECONCILER_MODEL_LABEL_SYNTAX_H_

#include "absl/strings/string_view.h"

namespace gpubinder {

// A DNS-1123 subdomain of 1 to 253 bytes.
bool IsDnsSubdomain(absl::string_view text);

// A label key: an optional DNS-1123 subdomain and '/', then 1 to 63 of
// [-A-Za-z0-9_.] that begin and end alphanumeric.
bool IsQualifiedName(absl::string_view text);

// A label value: empty, or as the name part of a label key.
bool IsLabelValue(absl::string_view text);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_LABEL_SYNTAX_H_
