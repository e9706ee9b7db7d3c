"""One macro each for our libraries, binaries, tests and protos."""

# Warnings are errors in our code; system headers are not ours.
_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wimplicit-fallthrough",
    "-Wno-missing-field-initializers",
    "-Werror",
]

def gb_library(name, visibility = None, copts = [], **kwargs):
    """A C++ library of ours. Without visibility it is its package's own."""
    native.cc_library(
        name = name,
        copts = _COPTS + copts,
        visibility = visibility or ["//visibility:private"],
        **kwargs
    )

def gb_binary(name, copts = [], visibility = None, **kwargs):
    """A C++ binary of ours."""
    native.cc_binary(
        name = name,
        copts = _COPTS + copts,
        visibility = visibility or ["//visibility:private"],
        **kwargs
    )

def gb_test(name, deps = [], copts = [], size = "small", **kwargs):
    """A GoogleTest of ours; unit tests are small, slow ones say so."""
    native.cc_test(
        name = name,
        copts = _COPTS + copts,
        size = size,
        deps = deps + ["//bazel:gtest_main"],
        **kwargs
    )

def gb_proto(name, src, deps = [], grpc = False, visibility = None):
    """C++ code of one .proto file of the same package.

    Args:
      name: the library; generated headers are included by the proto's path.
      src: the .proto file.
      deps: gb_proto targets whose files src imports; each X needs a
        filegroup X_src, which this macro makes too.
      grpc: whether the file has services.
      visibility: of the library and of its X_src.
    """
    stem = native.package_name() + "/" + src[:-len(".proto")]
    outs = [src[:-len(".proto")] + ".pb.h", src[:-len(".proto")] + ".pb.cc"]
    flags = "--cpp_out=$(GENDIR)"
    if grpc:
        outs += [o.replace(".pb.", ".grpc.pb.") for o in outs]
        flags += " --grpc_out=$(GENDIR)"
        flags += " --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin"
    native.filegroup(
        name = name + "_src",
        srcs = [src] + [d + "_src" for d in deps],
        visibility = visibility,
    )
    native.genrule(
        name = name + "_gen",
        srcs = [name + "_src"],
        outs = outs,
        cmd = "/usr/bin/protoc -I. " + flags + " " + stem + ".proto",
    )
    native.cc_library(
        name = name,
        srcs = [o for o in outs if o.endswith(".cc")],
        hdrs = [o for o in outs if o.endswith(".h")],
        copts = ["-w"],
        visibility = visibility,
        deps = deps + ["//bazel:grpc" if grpc else "//bazel:protobuf"],
    )
