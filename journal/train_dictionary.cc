// Trains the zstd dictionary of new journals: train_dictionary FILE BYTES ID.
//
// The same corpus gives the same file with the same libzstd. A file that is
// checked in is never trained anew: journals name it by id.

// The trainer with adjustable parameters is declared only with this.
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "journal/corpus.h"

namespace {

struct Arguments {
  std::string file;
  uint32_t bytes = 0;
  uint32_t id = 0;
};

int Train(const Arguments& arguments) {
  std::string samples;
  std::vector<size_t> sizes;
  for (const gpubinder::v1::Record& record :
       gpubinder::MakeCorpus({.seed = 1, .vms = 600, .nodes = 40})) {
    const size_t before = samples.size();
    record.AppendToString(&samples);
    sizes.push_back(samples.size() - before);
  }
  std::string dictionary(arguments.bytes, '\0');
  ZDICT_fastCover_params_t parameters = {};
  parameters.d = 8;
  parameters.k = 0;  // tried out
  parameters.steps = 40;
  parameters.splitPoint = 0.8;
  parameters.zParams.compressionLevel = 1;
  parameters.zParams.dictID = arguments.id;
  const size_t size = ZDICT_optimizeTrainFromBuffer_fastCover(
      dictionary.data(), dictionary.size(), samples.data(), sizes.data(),
      static_cast<unsigned>(sizes.size()), &parameters);
  if (ZDICT_isError(size)) {
    std::fprintf(stderr, "training on %zu records: %s\n", sizes.size(),
                 ZDICT_getErrorName(size));
    return 1;
  }
  std::ofstream out(arguments.file, std::ios::binary);
  out.write(dictionary.data(), static_cast<std::streamsize>(size));
  out.close();
  if (!out) {
    std::fprintf(stderr, "writing '%s' failed\n", arguments.file.c_str());
    return 1;
  }
  std::printf("%zu records of %zu bytes gave a dictionary of %zu bytes\n",
              sizes.size(), samples.size(), size);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (argc != 4 || !absl::SimpleAtoi(argv[2], &arguments.bytes) ||
      !absl::SimpleAtoi(argv[3], &arguments.id)) {
    std::fprintf(stderr, "usage: train_dictionary FILE BYTES ID\n");
    return 2;
  }
  arguments.file = argv[1];
  return Train(arguments);
}
