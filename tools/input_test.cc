#include "tools/input.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/text_files.h"

namespace gpubinder {
namespace {

constexpr char kHead[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

absl::StatusOr<Input> Read(absl::string_view text) {
  const absl::StatusOr<std::vector<InputText>> texts = JsonTexts(text, "in");
  if (!texts.ok()) return texts.status();
  return ObjectsOf(*texts, "default");
}

// "Kind namespace/name", one a line, or the error.
std::string Text(absl::string_view text) {
  const absl::StatusOr<Input> input = Read(text);
  if (!input.ok()) return std::string(input.status().message());
  std::string lines;
  for (const InputObject& object : input->objects) {
    absl::StrAppend(&lines, KindName(KindOf(object.object)), " ",
                    MetaOf(object.object).name_space, "/",
                    MetaOf(object.object).name, "\n");
  }
  return lines;
}

TEST(InputTest, ObjectsAreSortedByKindNamespaceAndName) {
  EXPECT_EQ(Text(R"(
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: z}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: a}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: z}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
)"),
            "Node /n1\nPod a/c\nPod z/a\nPod z/b\n");
}

TEST(InputTest, JsonValuesFollowEachOther) {
  EXPECT_EQ(Text(R"( {"apiVersion":"v1","kind":"Node","metadata":{"name":"}{"}}
                     {"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}
---
{"apiVersion":"v1","kind":"Node","metadata":{"name":"c"}})"),
            "Node /b\nNode /c\nNode /}{\n");
}

TEST(InputTest, ListsAndTypedListsAreTakenApart) {
  EXPECT_EQ(Text(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- apiVersion: v1
  kind: PodList
  items:
  - metadata: {name: p}
---
apiVersion: v1
kind: List
items: null
)"),
            "Node /n1\nPod default/p\n");
}

TEST(InputTest, ANamespaceIsGivenToThoseThatHaveOneAndTakenFromOthers) {
  EXPECT_EQ(Text(R"(
{apiVersion: v1, kind: Node, metadata: {name: n1, namespace: x}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}}
)"),
            "Node /n1\nPod default/p\n");
}

TEST(InputTest, KindsThatAreNotModelledAreCounted) {
  const absl::StatusOr<Input> input = Read(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
---
{apiVersion: apps/v1, kind: Deployment}
---
{apiVersion: other.io/v1, kind: VirtualMachine, metadata: {name: a}}
)");
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(SkippedText(*input),
            "skipped 4 objects of kinds that are not modelled: ConfigMap 2, "
            "Deployment 1, VirtualMachine 1");
  EXPECT_FALSE(input->served[static_cast<size_t>(Kind::kVirtualMachine)]);
}

TEST(InputTest, AKindIsServedByACrdOrByAnObject) {
  const absl::StatusOr<Input> input = Read(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: virtualmachines.kubevirt.io}
spec: {group: kubevirt.io, names: {kind: VirtualMachine}}
---
{apiVersion: cozystack.io/v1alpha1, kind: SchedulingClass, metadata: {name: s}}
)");
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_TRUE(input->served[static_cast<size_t>(Kind::kVirtualMachine)]);
  EXPECT_TRUE(input->served[static_cast<size_t>(Kind::kSchedulingClass)]);
  EXPECT_FALSE(
      input->served[static_cast<size_t>(Kind::kVirtualMachineInstance)]);
  EXPECT_TRUE(input->served[static_cast<size_t>(Kind::kPod)]);
  EXPECT_EQ(SkippedText(*input), "");
}

TEST(InputTest, AWrongFieldMakesOnlyTheObjectMalformed) {
  const absl::StatusOr<Input> input = Read(R"(
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaim
metadata: {name: c}
spec: {className: h100, count: two}
)");
  ASSERT_TRUE(input.ok()) << input.status();
  ASSERT_EQ(input->objects.size(), 1u);
  const ObjectMeta& meta = MetaOf(input->objects[0].object);
  ASSERT_EQ(meta.problems.size(), 1u);
  EXPECT_EQ(meta.problems[0].field, "spec.count");
}

TEST(InputTest, WholeNumbersKeepTheirDigits) {
  const absl::StatusOr<Input> input = Read(R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {a.b/c: 9007199254740993, a.b/d: "12"}}
)");
  ASSERT_TRUE(input.ok()) << input.status();
  const Node& node = std::get<Node>(input->objects[0].object);
  EXPECT_EQ(node.allocatable.at("a.b/c"), "9007199254740993");
  EXPECT_EQ(node.allocatable.at("a.b/d"), "12");
}

TEST(InputTest, ErrorsNameThePlaceTheObjectAndTheField) {
  const std::pair<std::string, const char*> cases[] = {
      {"- 1", "in, document 1: found a list, want an object"},
      {"just text",
       "in, document 1: found the text \"just text\", want an object"},
      {"metadata: {name: p}",
       "in, document 1: kind: found nothing, want a text"},
      {"{apiVersion: v1, kind: 5}",
       "in, document 1: kind: found the number 5, want a text"},
      {"{kind: Pod}", "in, document 1: apiVersion: found nothing, want a text"},
      {"{apiVersion: v1, kind: Pod}",
       "in, document 1: Pod: metadata: found nothing, want an object"},
      {"{apiVersion: v1, kind: Pod, metadata: [a]}",
       "in, document 1: Pod: metadata: found a list, want an object"},
      {"{apiVersion: v1, kind: Pod, metadata: {name: 5}}",
       "in, document 1: Pod: metadata.name: found the number 5, want a text"},
      {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: yes}}",
       "in, document 1: Pod p: metadata.namespace: found true, want a text"},
      {absl::StrCat(kHead, "---\n", kHead),
       "in, document 2: Pod default/p stands twice, first in in, document 1"},
      {"{apiVersion: v1, kind: List, items: [{apiVersion: v1}]}",
       "in, document 1, item 1: kind: found nothing, want a text"},
      {"{apiVersion: v1, kind: List, items: {}}",
       "in, document 1: items: found an object, want a list"},
      {"{\"a\": [1, }",
       "in, document 1: the JSON does not end, or is nested deeper than 1000 "
       "levels"},
      {"{\"a\": 1} x",
       "in, document 2: found what is no JSON object after the one before"},
      {"{\"a\": [1}",
       "in, document 1: the JSON does not end, or is nested deeper than 1000 "
       "levels"},
      {"a: 1\n b: 2\n", "in: document 1, line 2, column 3: illegal map value"},
      {std::string("a\0b", 3),
       "in: is neither YAML nor JSON: byte 2 is no UTF-8 text"},
      {"a: \xff", "in: is neither YAML nor JSON: byte 4 is no UTF-8 text"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Text(text), want) << text;
}

TEST(InputTest, TenMegabytesOfGarbageAreRefusedWithOneMessage) {
  constexpr size_t kSize = 10 << 20;
  std::string noise;
  uint64_t state = 1;
  while (noise.size() < kSize) {
    state = state * 6364136223846793005 + 1442695040888963407;
    noise += static_cast<char>(state >> 56);
  }
  std::string dashes, keys;
  while (dashes.size() < kSize) dashes += "- ";
  while (keys.size() < kSize) keys += "a: &a {b: *a}\n";
  for (const std::string& text :
       {noise, dashes, keys, std::string(kSize, 'a'), std::string(kSize, '['),
        std::string(kSize, '{')}) {
    const std::string error = Text(text);
    EXPECT_EQ(error.substr(0, 2), "in") << error.substr(0, 200);
    EXPECT_LT(error.size(), 300u);
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(InputTest, ListsInListsAreBounded) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  std::string nested, end;
  for (int i = 0; i < 20; ++i) {
    nested += text;
    end += "]}";
  }
  EXPECT_NE(Text(nested + end).find("lists are nested too deep"),
            std::string::npos);
}

}  // namespace
}  // namespace gpubinder
