// A kernel that faults takes the context of its device with it, for good: one test, on a device
// that no other uses.
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "server/executor/errors.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/executor/test_device.h"
#include "tests/unit/executor/test_loop.h"

namespace weft::executor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using weft::testing::StatusIs;

TEST(ContextLossTest, FaultIsToldFirstAndNamesTheNode) {
  const cuda::Context context = MakeContext(kDoomedDevice);
  ASSERT_OK_AND_ASSIGN(const cuda::Module module,
                       cuda::Module::Load(context, weft::testing::ReadFile(TestImagePath())));
  ASSERT_OK_AND_ASSIGN(const cuda::Function crash, module.GetFunction("crash"));
  ContextLoss told;
  bool completed_before_told = false;
  LaunchLoopOptions options;
  options.spin = absl::ZeroDuration();  // the sleeping loop is the one that must notice by itself
  options.in_flight_sleep = absl::Milliseconds(5);
  TestLoop* running = nullptr;
  options.on_context_lost = [&](const ContextLoss& loss) {
    told = loss;
    completed_before_told = running->client().Poll().has_value();
  };
  TestLoop loop(context, options);
  running = &loop;
  Gate gate;  // a launch without kernels, in flight beside the one that faults
  const auto bystander = loop.Add(1, gate.Launch(), {.job = "copies"});
  const auto faulty =
      loop.Add(2,
               [&crash](const cuda::StreamRef& stream) {
                 CUdeviceptr address = 0;
                 void* params[] = {&address};
                 return cuda::LaunchKernel(stream, {.function = crash, .params = params});
               },
               {.job = "demo", .kernel_nodes = {"blur"}, .kernel_node_count = 1});
  const uint64_t innocent_sequence = loop.Submit(1);
  gate.WaitUntilRunning();
  const uint64_t faulty_sequence = loop.Submit(2);

  EXPECT_EQ(loop.Join(), LaunchLoop::Outcome::kContextLost);
  gate.Open();
  EXPECT_FALSE(completed_before_told);
  EXPECT_EQ(told.graph, GraphId(2));
  EXPECT_EQ(told.node, "blur");
  EXPECT_THAT(std::string(told.status.message()),
              AllOf(HasSubstr("job \"demo\", node \"blur\""), HasSubstr("ILLEGAL_ADDRESS")));
  for (int i = 0; i < 2; ++i) {
    const transport::Completion completion = loop.Next();
    EXPECT_TRUE(completion.context_lost);
    EXPECT_EQ(completion.code, completion.sequence == faulty_sequence ? told.status.code()
                                                                      : absl::StatusCode::kAborted);
    EXPECT_TRUE(completion.sequence == faulty_sequence || completion.sequence == innocent_sequence);
  }
  ASSERT_OK_AND_ASSIGN(const LaunchReport report, faulty->Report());
  EXPECT_EQ(report.status, told.status);
  EXPECT_EQ(report.node, "blur");
  EXPECT_THAT(bystander->Report()->status, StatusIs(absl::StatusCode::kAborted));
}

TEST(KernelFaultErrorTest, NamesAsMuchAsIsKnown) {
  const absl::Status cause = absl::InternalError("illegal address");
  EXPECT_THAT(KernelFaultError(cause, {.launches_in_flight = 3}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("one of 3 jobs in flight")));
  EXPECT_THAT(KernelFaultError(cause, {.job = "j",
                                       .kernel_nodes = {"a", "b"},
                                       .kernel_node_count = 5,
                                       .launches_in_flight = 1}),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("job \"j\""), HasSubstr("5 kernel nodes (a, b, …)"))));
  EXPECT_THAT(
      KernelFaultError(
          cause, {.kernel_nodes = {"a", "b"}, .kernel_node_count = 2, .launches_in_flight = 2}),
      StatusIs(absl::StatusCode::kInternal, Not(HasSubstr("…"))));
}

}  // namespace
}  // namespace weft::executor
