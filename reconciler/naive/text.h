// What Kubernetes means by the texts in an object: quantities, labels,
// taints, the digest of a fingerprint. Written for shortness, from the
// documentation of Kubernetes, and used by the naive model alone.

#ifndef RECONCILER_NAIVE_TEXT_H_
#define RECONCILER_NAIVE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/object_parts.h"

namespace gpubinder::naive {

// Whole units of a quantity: a fraction is dropped, or counted as one more
// with `Part::kCounts`. Nothing for what cannot be read, is negative or is
// beyond int64.
enum class Part { kDropped, kCounts };
std::optional<int64_t> WholeUnits(const std::string& quantity, Part part);

// The sum, at most the largest int64.
int64_t Plus(int64_t a, int64_t b);

bool HasLabels(const StringMap& labels, const StringMap& wanted);

// Terms are ORed; `node_name` is what matchFields see, empty for a volume,
// whose matchFields are not looked at.
bool Selects(const NodeSelector& selector, const StringMap& labels,
             const std::string& node_name);

bool Tolerated(const Taint& taint, const std::vector<Toleration>& by);

std::string TaintText(const Taint& taint);

// The first 16 hex digits of SHA-256.
std::string ShortDigest(const std::string& text);
// The first 8.
std::string ShorterDigest(const std::string& text);

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_TEXT_H_
