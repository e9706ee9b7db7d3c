#include "k8s/sample_objects.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/check.h"

namespace gpubinder {

std::string SampleObject(Kind kind) {
  std::ifstream file(absl::StrCat(
      "k8s/testdata/", absl::AsciiStrToLower(KindName(kind)), ".json"));
  BINDER_CHECK(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gpubinder
