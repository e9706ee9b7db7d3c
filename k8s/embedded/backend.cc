#include "k8s/embedded/backend.h"

#include "absl/strings/str_format.h"

namespace gpubinder::embedded {

// SplitMix64: small, and good enough for ids that only have to differ.
uint64_t IdSource::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string IdSource::Uid() {
  const uint64_t high = Next(), low = Next();
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", high >> 32,
                         (high >> 16) & 0xffff, high & 0xfff,
                         0x8000 | ((low >> 48) & 0x3fff), low & 0xffffffffffff);
}

std::string IdSource::NameSuffix() {
  constexpr absl::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (uint64_t bits = Next(); suffix.size() < 5; bits /= kAlphabet.size()) {
    suffix.push_back(kAlphabet[bits % kAlphabet.size()]);
  }
  return suffix;
}

StoreKey KeyOf(const Resource& resource, absl::string_view name_space,
               absl::string_view name) {
  return {resource.QualifiedPlural(), std::string(name_space),
          std::string(name)};
}

JsonPtr ReadObject(Backend& backend, const Resource& resource,
                   absl::string_view name_space, absl::string_view name) {
  absl::MutexLock lock(&backend.mutex);
  return backend.store.Get(KeyOf(resource, name_space, name));
}

std::vector<JsonPtr> ReadAll(Backend& backend, const Resource& resource,
                             absl::string_view name_space) {
  absl::MutexLock lock(&backend.mutex);
  return backend.store.List(resource.QualifiedPlural(), name_space);
}

}  // namespace gpubinder::embedded
