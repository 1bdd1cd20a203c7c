// Every built-in kernel, for every dtype that its schema names, against references that share no
// code with it; and on a GPU against its CPU twin.
#include <malloc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/launch_shape.h"
#include "kernels/registry.h"
#include "tests/kernels/device.h"
#include "tests/kernels/kernel_cases.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels::testing {
namespace {

struct Instantiation {
  const KernelSchema* schema;
  std::vector<DType> key;
};

std::string NameOf(const Instantiation& instantiation) {
  std::string name = instantiation.schema->name;
  for (const DType dtype : instantiation.key) absl::StrAppend(&name, "_", NameOf(dtype));
  return name;
}

// All dtypes of all kernels. spin has no reference: its results are times.
std::vector<Instantiation> Instantiations() {
  std::vector<Instantiation> all;
  for (const KernelSchema& schema : Registry::Builtin().schemas()) {
    if (schema.name == "spin") continue;
    std::vector<std::vector<DType>> keys(1);
    for (const uint32_t argument : schema.key.arguments) {
      std::vector<std::vector<DType>> longer;
      for (const std::vector<DType>& key : keys) {
        for (const DType dtype : schema.arguments[argument].buffer()->dtype.allowed) {
          longer.push_back(key);
          longer.back().push_back(dtype);
        }
      }
      keys = std::move(longer);
    }
    for (std::vector<DType>& key : keys) all.push_back({&schema, std::move(key)});
  }
  return all;
}

// Too few threads for most problems, and more than one in every dimension.
const LaunchOverride kOddShape = {Dim3{3, 2, 2}, Dim3{8, 4, 2}};

bool IsLong(const Extents& extents) { return extents.a * extents.b * extents.c > 100000; }

// True where the entry point is that of another dtype of the same width, which comes before.
bool SharesCode(const Instantiation& instantiation) {
  if (instantiation.schema->key.kind != SymbolKey::Kind::kWidth) return false;
  const DType own = instantiation.key[0];
  const absl::Span<const DType> all = AllDTypes();
  const auto* first = std::find_if(all.begin(), all.end(),
                                   [&](DType dtype) { return SizeOf(dtype) == SizeOf(own); });
  return *first != own;
}

class BuiltinKernelTest : public ::testing::TestWithParam<Instantiation> {
 protected:
  // Values by the megabyte are made for every extent: keep their memory rather than give it back each time.
  static void SetUpTestSuite() {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
  }
  static void Check(const Problem& problem, const Placement& placement, const KernelCase& rules);
  static void Compare(const Problem& problem, const Placement& placement, const Outcome& outcome,
                      const KernelCase& rules);
};

void BuiltinKernelTest::Check(const Problem& problem, const Placement& placement,
                              const KernelCase& rules) {
  SCOPED_TRACE(absl::StrCat(ToString(problem.extents()), ", shifted by ", placement.shift_elements,
                            placement.in_place ? ", in place" : ""));
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  ASSERT_OK_AND_ASSIGN(const Outcome outcome, device->Run(problem, placement));
  EXPECT_EQ(outcome.stray_bytes, 0u);
  for (size_t i = 0; i < problem.buffers().size(); ++i) {
    const ProblemBuffer& buffer = problem.buffers()[i];
    if (!buffer.written) continue;
    EXPECT_EQ(Difference(buffer, outcome.buffers[i]), "");
  }
  Compare(problem, placement, outcome, rules);
}

// With the CPU twin, where a GPU is under test.
void BuiltinKernelTest::Compare(const Problem& problem, const Placement& placement,
                                const Outcome& outcome, const KernelCase& rules) {
  const absl::StatusOr<Device*> twin = TwinDevice();
  if (absl::IsNotFound(twin.status())) return;
  ASSERT_OK(twin);
  ASSERT_OK_AND_ASSIGN(const Outcome other, (*twin)->Run(problem, placement));
  for (size_t i = 0; i < problem.buffers().size(); ++i) {
    if (!problem.buffers()[i].written) continue;
    if (rules.twins == Twins::kSameBits) {
      EXPECT_TRUE(outcome.buffers[i] == other.buffers[i]) << "bits differ from the CPU twin's";
    }
    EXPECT_EQ(Difference(problem.buffers()[i], outcome.buffers[i], other.buffers[i]), "")
        << "against the CPU twin";
  }
}

TEST_P(BuiltinKernelTest, AgreesWithTheReference) {
  const auto& [schema, key] = GetParam();
  const KernelCase* rules = FindCase(schema->name);
  ASSERT_NE(rules, nullptr) << "kernel " << schema->name << " has no reference";
  const bool may_share =
      std::any_of(schema->arguments.begin(), schema->arguments.end(), [](const auto& argument) {
        return argument.buffer() != nullptr && !argument.buffer()->in_place_with.empty();
      });
  const bool takes_shape =
      schema->phases.size() == 1 && schema->phases[0].shape.block_rule == LaunchShape::Block::kAny;
  for (const Extents& extents : ExtentsOf(rules->sizes)) {
    if (IsLong(extents) && SharesCode(GetParam())) continue;
    Problem problem(*schema, key, extents);
    rules->build(problem);
    Check(problem, {}, *rules);
    if (IsLong(extents)) continue;
    Check(problem, {1, false, {}}, *rules);
    if (may_share) Check(problem, {0, true, {}}, *rules);
    if (takes_shape) Check(problem, {0, false, kOddShape}, *rules);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BuiltinKernelTest, ::testing::ValuesIn(Instantiations()),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace weft::kernels::testing
