// For tests: one object of each kind as the API sends it, k8s/testdata/*.json.
// Every field that the codec reads is there, and whatever the filter removes
// holds the word CANARY.

#ifndef K8S_SAMPLE_OBJECTS_H_
#define K8S_SAMPLE_OBJECTS_H_

#include <string>

#include "reconciler/model/kind.h"

namespace gpubinder {

// Ends the test when the file is not there.
std::string SampleObject(Kind kind);

}  // namespace gpubinder

#endif  // K8S_SAMPLE_OBJECTS_H_
