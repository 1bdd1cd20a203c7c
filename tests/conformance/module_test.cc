// Modules, functions, parameters, launches.

#include "cuda/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cuda/device_query.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"
#include "tests/testing/temp_dir.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

struct Triple {
  uint32_t x, y, z;
};

class ModuleConformance : public KernelTest {
 protected:
  cuda::Module LoadAgain() const {
    const std::string& file = ConformanceEnvironment::Get().profile().image_file;
    return cuda::Module::Load(context(), testing::ReadFile(TestDataPath(file))).value();
  }
  // What "launch_shape" saw.
  std::vector<uint32_t> ShapeSeen(cuda::KernelLaunch& launch, const DeviceBuffer& out) const {
    const cuda::Stream stream = MakeStream();
    EXPECT_OK(cuda::LaunchKernel(stream.ref(), launch));
    EXPECT_OK(stream.ref().Synchronize());
    return Read<uint32_t>(out.address(), 8);
  }
};

TEST_F(ModuleConformance, KernelComputesOverBlocks) {
  constexpr uint32_t kBlock = 128;
  for (const uint64_t count : {1u, 127u, 128u, 129u, 1000u}) {
    const DeviceBuffer memory = MakeBuffer();
    std::vector<uint32_t> a(count);
    std::iota(a.begin(), a.end(), 1);
    ASSERT_OK(Write(memory.address(), a));
    ASSERT_OK(Write(memory.address(8192), a));
    KernelCall call(Kernel("add"), {static_cast<uint32_t>((count + kBlock - 1) / kBlock), 1, 1},
                    {kBlock, 1, 1}, memory.address(), memory.address(8192), memory.address(16384),
                    count);
    const cuda::Stream stream = MakeStream();
    ASSERT_OK(cuda::LaunchKernel(stream.ref(), call.launch()));
    ASSERT_OK(stream.ref().Synchronize());
    const auto sum = Read<uint32_t>(memory.address(16384), count + 1);
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(sum[i], 2 * (i + 1));
    EXPECT_EQ(sum[count], 0u);
  }
}

TEST_F(ModuleConformance, ParametersOfEverySizeArrive) {
  const DeviceBuffer out = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(Run(stream.ref(), "mixed_params", uint8_t{200}, uint64_t{1} << 40, uint16_t{60000},
                1.5F, Triple{1, 2, 3}, out.address()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(Read<uint64_t>(out.address(), 7),
              ElementsAre(200, uint64_t{1} << 40, 60000, std::bit_cast<uint32_t>(1.5F), 1, 2, 3));
}

TEST_F(ModuleConformance, ParameterInfoTellsOffsetsAndSizes) {
  const auto params = Kernel("mixed_params").Params();
  if (params.status().code() == absl::StatusCode::kUnimplemented) {
    GTEST_SKIP() << params.status();
  }
  ASSERT_OK(params);
  EXPECT_THAT(*params,
              ElementsAre(cuda::ParamInfo{0, 1}, cuda::ParamInfo{8, 8}, cuda::ParamInfo{16, 2},
                          cuda::ParamInfo{20, 4}, cuda::ParamInfo{24, 12}, cuda::ParamInfo{40, 8}));
}

TEST_F(ModuleConformance, ParametersAreCopiedByTheLaunch) {
  const DeviceBuffer log = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  Gate gate(context());
  ASSERT_OK(gate.Hold(stream.ref()));
  CUdeviceptr address = log.address();
  uint32_t value = 11;
  void* params[] = {&address, &value};
  ASSERT_OK(cuda::LaunchKernel(stream.ref(), {.function = Kernel("append"),
                                              .grid = {},
                                              .block = {},
                                              .dynamic_shared_bytes = 0,
                                              .params = params}));
  value = 22;
  address = 0;
  gate.Open();
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(ReadLog(log.address()), ElementsAre(11));
}

TEST_F(ModuleConformance, KernelSeesItsLaunchShape) {
  const DeviceBuffer out = MakeBuffer();
  KernelCall call(Kernel("launch_shape"), {2, 3, 4}, {8, 2, 1}, out.address());
  call.launch().dynamic_shared_bytes = 1024;
  EXPECT_THAT(ShapeSeen(call.launch(), out), ElementsAre(2, 3, 4, 8, 2, 1, 1024, 384));
}

TEST_F(ModuleConformance, LargeSharedMemoryNeedsOptingIn) {
  ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo info, cuda::QueryDeviceInfo(driver(), 0));
  const DeviceBuffer out = MakeBuffer();
  const cuda::Module module = LoadAgain();
  ASSERT_OK_AND_ASSIGN(const cuda::Function function, module.GetFunction("launch_shape"));
  EXPECT_THAT(function.SetMaxDynamicSharedBytes(info.shared_bytes_per_block_optin + 1),
              StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_OK(function.SetMaxDynamicSharedBytes(info.shared_bytes_per_block_optin));
  ASSERT_OK_AND_ASSIGN(const cuda::FunctionAttributes attributes, function.Attributes());
  EXPECT_EQ(attributes.max_dynamic_shared_bytes, info.shared_bytes_per_block_optin);
  KernelCall call(function, {}, {}, out.address());
  call.launch().dynamic_shared_bytes = info.shared_bytes_per_block_optin;
  EXPECT_EQ(ShapeSeen(call.launch(), out)[6], info.shared_bytes_per_block_optin);
}

TEST_F(ModuleConformance, FunctionTellsItsAttributes) {
  ASSERT_OK_AND_ASSIGN(const cuda::FunctionAttributes attributes, Kernel("add").Attributes());
  EXPECT_GE(attributes.max_threads_per_block, 32u);
  EXPECT_LE(attributes.max_threads_per_block, 1024u);
  EXPECT_EQ(attributes.static_shared_bytes, 0u);
  ASSERT_OK_AND_ASSIGN(const uint32_t blocks,
                       Kernel("add").MaxActiveBlocksPerMultiprocessor(32, 0));
  EXPECT_GE(blocks, 1u);
}

TEST_F(ModuleConformance, ShapesBeyondTheLimitsAreInvalid) {
  ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo info, cuda::QueryDeviceInfo(driver(), 0));
  const DeviceBuffer out = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  struct Shape {
    cuda::Dim3 grid;
    cuda::Dim3 block;
    uint32_t shared_bytes;
  };
  for (const Shape& shape : {
           Shape{{0, 1, 1}, {1, 1, 1}, 0},
           Shape{{1, 1, 1}, {1, 0, 1}, 0},
           Shape{{1, 1, 1}, {info.max_block[0] + 1, 1, 1}, 0},
           Shape{{1, 1, 1}, {1, 1, info.max_block[2] + 1}, 0},
           Shape{{1, 1, 1}, {info.max_threads_per_block, 2, 1}, 0},
           Shape{{1, info.max_grid[1] + 1, 1}, {1, 1, 1}, 0},
           Shape{{1, 1, 1}, {1, 1, 1}, info.shared_bytes_per_block_optin + 1},
       }) {
    KernelCall call(Kernel("launch_shape"), shape.grid, shape.block, out.address());
    call.launch().dynamic_shared_bytes = shape.shared_bytes;
    EXPECT_THAT(cuda::LaunchKernel(stream.ref(), call.launch()),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(Read<uint32_t>(out.address(), 8), std::vector<uint32_t>(8)) << "a kernel ran";
}

TEST_F(ModuleConformance, MissingNamesAreNotFound) {
  const cuda::Module& module = *ConformanceEnvironment::Get().module();
  EXPECT_THAT(module.GetFunction("no_such_kernel"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(module.GetFunction(""), Not(IsOk()));
  EXPECT_THAT(module.GetGlobal("no_such_variable"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ModuleConformance, BytesThatAreNoImageAreRefused) {
  for (const char* const bytes : {"not an image", "\x7f", "\n\n\n"}) {
    const auto module = cuda::Module::Load(context(), bytes);
    EXPECT_THAT(module, Not(IsOk()));
    EXPECT_FALSE(cuda::IsContextFatal(module.status()));
  }
}

TEST_F(ModuleConformance, VariablesAreReadAndWritten) {
  const cuda::Module module = LoadAgain();
  ASSERT_OK_AND_ASSIGN(const cuda::GlobalVariable variable,
                       module.GetGlobal("conformance_variable"));
  EXPECT_EQ(variable.size, sizeof(uint64_t));
  EXPECT_EQ(ReadOne<uint64_t>(variable.address), 42u);
  ASSERT_OK(Write(variable.address, std::vector<uint64_t>{43}));
  const DeviceBuffer out = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK_AND_ASSIGN(const cuda::Function function, module.GetFunction("read_variable"));
  KernelCall call(function, {}, {}, out.address());
  ASSERT_OK(cuda::LaunchKernel(stream.ref(), call.launch()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(ReadOne<uint64_t>(out.address()), 43u);
}

TEST_F(ModuleConformance, EachLoadHasVariablesOfItsOwn) {
  const cuda::Module first = LoadAgain();
  const cuda::Module second = LoadAgain();
  ASSERT_OK_AND_ASSIGN(const auto in_first, first.GetGlobal("conformance_variable"));
  ASSERT_OK_AND_ASSIGN(const auto in_second, second.GetGlobal("conformance_variable"));
  EXPECT_NE(in_first.address, in_second.address);
  ASSERT_OK(Write(in_first.address, std::vector<uint64_t>{1}));
  EXPECT_EQ(ReadOne<uint64_t>(in_second.address), 42u);
}

TEST_F(ModuleConformance, ModulesAreLoadedAndUnloadedRepeatedly) {
  for (int i = 0; i < 20; ++i) {
    const cuda::Module module = LoadAgain();
    ASSERT_OK(module.GetFunction("spin"));
  }
}

TEST_F(ModuleConformance, LaunchesTakeAClusterAndAPriority) {
  const DeviceBuffer out = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK_AND_ASSIGN(const cuda::PriorityRange range, cuda::StreamPriorityRange(context()));
  KernelCall call(Kernel("launch_shape"), {4, 2, 1}, {32, 1, 1}, out.address());
  call.launch().attributes.cluster = {2, 2, 1};
  call.launch().attributes.priority = range.greatest;
  ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo device,
                       cuda::QueryDeviceInfo(context().driver(), context().device()));
  if (device.compute_major < 9) GTEST_SKIP() << "the device has no clusters";
  ASSERT_OK(cuda::LaunchKernel(stream.ref(), call.launch()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(Read<uint32_t>(out.address(), 3), ElementsAre(4, 2, 1));
}

TEST_F(ModuleConformance, AGridThatIsNoMultipleOfTheClusterIsRefused) {
  const DeviceBuffer out = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  KernelCall call(Kernel("launch_shape"), {3, 1, 1}, {32, 1, 1}, out.address());
  call.launch().attributes.cluster = {2, 1, 1};
  EXPECT_THAT(cuda::LaunchKernel(stream.ref(), call.launch()), Not(IsOk()));
}

}  // namespace
}  // namespace weft::conformance
