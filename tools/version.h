// The version of this build.

#ifndef TOOLS_VERSION_H_
#define TOOLS_VERSION_H_

namespace gpubinder {

inline constexpr char kGpubinderVersion[] = "0.1.0";

}  // namespace gpubinder

#endif  // TOOLS_VERSION_H_
