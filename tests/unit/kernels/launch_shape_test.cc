#include "kernels/launch_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/parameters.h"
#include "kernels/registry.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using weft::testing::StatusIs;

const KernelSchema& Builtin(absl::string_view name) { return *Registry::Builtin().Find(name); }

// fill of n bytes, which needs no real memory to be planned.
BoundCall FillOf(uint64_t n) {
  const GivenBuffer buffer{DType::kU8, {}, n, 0, {}};
  return Bind(Builtin("fill"), {{{"dst", buffer}}}).call;
}

BoundCall SumOf(uint64_t n) {
  const GivenBuffer src{DType::kU8, {}, n, 0, {}};
  const GivenBuffer dst{DType::kU64, {}, 8, 0, {}};
  return Bind(Builtin("reduce_sum"), {{{"src", src}, {"dst", dst}}}).call;
}

TEST(PlanLaunchTest, HasNoPhaseForNoElements) {
  ASSERT_OK_AND_ASSIGN(const LaunchPlan plan, PlanLaunch(Builtin("fill"), FillOf(0), {}));
  EXPECT_THAT(plan.phases, SizeIs(0));
}

TEST(PlanLaunchTest, StillWritesTheResultOfAReductionOfNothing) {
  ASSERT_OK_AND_ASSIGN(const LaunchPlan plan, PlanLaunch(Builtin("reduce_sum"), SumOf(0), {}));
  ASSERT_THAT(plan.phases, SizeIs(1));
  EXPECT_EQ(plan.phases[0].symbol, "weft_reduce_sum_u8_final");
}

TEST(PlanLaunchTest, RunsPhasesInOrderWithAWorkspace) {
  ASSERT_OK_AND_ASSIGN(const LaunchPlan plan, PlanLaunch(Builtin("reduce_sum"), SumOf(100000), {}));
  ASSERT_THAT(plan.phases, SizeIs(2));
  EXPECT_EQ(plan.phases[0].symbol, "weft_reduce_sum_u8_partial");
  EXPECT_EQ(plan.phases[1].symbol, "weft_reduce_sum_u8_final");
  EXPECT_EQ(plan.phases[1].grid, Dim3{});
  EXPECT_GT(plan.workspace_bytes, 0u);
}

TEST(PlanLaunchTest, StaysWithinTheDeviceForAnyExtent) {
  LaunchLimits limits;
  limits.max_grid[0] = 100;
  for (const uint64_t n : {uint64_t{1}, uint64_t{1} << 32, uint64_t{1} << 62}) {
    ASSERT_OK_AND_ASSIGN(const LaunchPlan plan, PlanLaunch(Builtin("fill"), FillOf(n), limits));
    ASSERT_THAT(plan.phases, SizeIs(1));
    EXPECT_GE(plan.phases[0].grid.x, 1u);
    EXPECT_LE(plan.phases[0].grid.x, 100u);
  }
}

TEST(PlanLaunchTest, TakesAChosenShapeWithinTheLimits) {
  LaunchOverride chosen;
  chosen.grid = Dim3{7, 1, 1};
  chosen.block = Dim3{64, 1, 1};
  ASSERT_OK_AND_ASSIGN(const LaunchPlan plan,
                       PlanLaunch(Builtin("fill"), FillOf(5000), {}, chosen));
  EXPECT_EQ(plan.phases[0].grid, *chosen.grid);
  EXPECT_EQ(plan.phases[0].block, *chosen.block);
}

absl::Status PlanWith(absl::string_view kernel, const BoundCall& call, std::optional<Dim3> grid,
                      std::optional<Dim3> block) {
  return PlanLaunch(Builtin(kernel), call, {}, {grid, block}).status();
}

TEST(PlanLaunchTest, RefusesZeroAndTooLargeShapes) {
  const BoundCall call = FillOf(5000);
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(PlanWith("fill", call, Dim3{0, 1, 1}, {}), StatusIs(code, HasSubstr("grid: x is 0")));
  EXPECT_THAT(PlanWith("fill", call, Dim3{1, 65536, 1}, {}),
              StatusIs(code, HasSubstr("y is 65536, above the device's limit of 65535")));
  EXPECT_THAT(PlanWith("fill", call, {}, Dim3{64, 32, 1}),
              StatusIs(code, HasSubstr("64 x 32 x 1 = 2048 threads")));
  EXPECT_THAT(PlanWith("fill", FillOf(0), Dim3{1, 1, 0}, {}), StatusIs(code, HasSubstr("z is 0")));
}

TEST(PlanLaunchTest, RefusesAShapeForKernelsThatTakeNone) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(PlanWith("reduce_sum", SumOf(10), Dim3{}, {}),
              StatusIs(code, HasSubstr("2 launches")));
  const std::vector<uint64_t> square = {4, 4};
  const GivenBuffer buffer{DType::kF32, square, 64, 0, {}};
  const BindResult bound = Bind(Builtin("transpose"), {{{"src", buffer}, {"dst", buffer}}});
  EXPECT_THAT(PlanWith("transpose", bound.call, {}, Dim3{16, 16, 1}),
              StatusIs(code, HasSubstr("only with blocks of 32 x 8 x 1")));
}

TEST(PlanLaunchTest, LeavesSharedMemoryOutWhereItWouldNotFit) {
  const auto shared_for = [](uint64_t bins) {
    const GivenBuffer src{DType::kI32, {}, 4000, 0, {}};
    const GivenBuffer counts{DType::kU32, {}, 4 * bins, 0, {}};
    const BindResult bound = Bind(Builtin("histogram"), {{{"src", src}, {"counts", counts}}});
    return PlanLaunch(Builtin("histogram"), bound.call, {})->phases.back().shared_bytes;
  };
  EXPECT_EQ(shared_for(256), 1024u);
  EXPECT_EQ(shared_for(12288), 48u * 1024);
  EXPECT_EQ(shared_for(12289), 0u);
}

TEST(ParametersTest, ArePackedInSchemaOrderWithTheWorkspaceLast) {
  const BoundCall call = SumOf(77);
  EXPECT_THAT(ParameterLayout(Builtin("reduce_sum"), call),
              ElementsAre(ParameterSlot{0, 8}, ParameterSlot{8, 8}, ParameterSlot{16, 8},
                          ParameterSlot{24, 8}));
  ASSERT_OK_AND_ASSIGN(ParameterPack pack,
                       PackParameters(Builtin("reduce_sum"), call, {0x1000, 0x2000}, 0x3000));
  EXPECT_THAT(pack.words, ElementsAre(0x1000, 0x2000, 77, 0x3000));
  EXPECT_EQ(pack.Pointers()[2], &pack.words[2]);
  EXPECT_THAT(PackParameters(Builtin("reduce_sum"), call, {0x1000}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 buffer arguments")));
}

TEST(ParametersTest, AreAlignedToTheirSize) {
  EXPECT_THAT(ParameterLayout(Builtin("fill"), FillOf(8)),
              ElementsAre(ParameterSlot{0, 8}, ParameterSlot{8, 4}, ParameterSlot{16, 8}));
}

}  // namespace
}  // namespace weft::kernels
