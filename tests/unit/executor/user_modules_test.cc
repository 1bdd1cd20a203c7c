#include "server/executor/user_modules.h"

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graph/ir/graph.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/executor/test_device.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

using ::testing::HasSubstr;
using weft::testing::ReadFile;
using weft::testing::StatusIs;

// "Compiles" everything to the image of the tests, whose kernel is "increment".
class TestCompiler final : public kernels::Compiler {
 public:
  explicit TestCompiler(std::atomic<int>& count) : count_(count) {}
  absl::StatusOr<kernels::CompiledModule> Compile(
      const kernels::CudaSource& source) const override {
    ++count_;
    if (source.code == "bad") return absl::InvalidArgumentError("bad.cu(1): no");
    return kernels::CompiledModule{ReadFile(TestImagePath()), source.entries};
  }
  std::string Identity() const override { return "test"; }

 private:
  std::atomic<int>& count_;
};

struct OneModule {
  ::weft::v1::Job job;
  ir::Graph graph;
};

// A job with one module, of which one node launches `entry`.
OneModule JobOf(const std::string& code, const std::string& entry = "increment") {
  OneModule one;
  one.job.add_modules()->set_name("mine");
  one.job.mutable_modules(0)->set_cuda(code);
  one.graph.modules.push_back({"mine", ir::Module::Code::kCuda});
  ir::UserKernelOp op;
  op.entry = entry;
  one.graph.nodes.push_back({"n", std::move(op), {}, {}});
  return one;
}

class UserModuleStoreTest : public ::testing::Test {
 protected:
  absl::StatusOr<UserModules> Load(const OneModule& one) { return store_.Load(one.graph, one.job); }

  const cuda::Context context_ = MakeContext();
  std::atomic<int> compilations_ = 0;
  const cuda::DeviceInfo device_ = [] {
    cuda::DeviceInfo device;
    device.name = "Test";
    device.compute_major = 9;
    return device;
  }();
  UserModuleStore store_{context_, device_, [this] {
                           return absl::StatusOr<std::unique_ptr<const kernels::Compiler>>(
                               std::make_unique<const TestCompiler>(compilations_));
                         }};
};

TEST_F(UserModuleStoreTest, KernelsAreFoundByTheNameThatTheJobGives) {
  ASSERT_OK_AND_ASSIGN(const UserModules modules, Load(JobOf("code")));
  EXPECT_OK(modules[0]->Find("increment"));
  EXPECT_THAT(modules[0]->Find("other"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"mine\" has no kernel \"other\"")));
}

TEST_F(UserModuleStoreTest, AnEntryThatTheImageHasNotIsNamed) {
  ASSERT_OK_AND_ASSIGN(const UserModules modules, Load(JobOf("code", "missing")));
  EXPECT_THAT(modules[0]->Find("missing"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(UserModuleStoreTest, EqualCodeIsLoadedOnceAndUnloadedWithTheLastJob) {
  {
    ASSERT_OK_AND_ASSIGN(const UserModules first, Load(JobOf("code")));
    ASSERT_OK_AND_ASSIGN(const UserModules second, Load(JobOf("code")));
    EXPECT_EQ(first[0], second[0]);
    ASSERT_OK_AND_ASSIGN(const UserModules other, Load(JobOf("other code")));
    EXPECT_NE(first[0], other[0]);
    EXPECT_EQ(compilations_, 2);
  }
  ASSERT_OK(Load(JobOf("code")));
  EXPECT_EQ(compilations_, 3);
}

TEST_F(UserModuleStoreTest, AModuleThatNoNodeLaunchesIsNotCompiled) {
  OneModule one = JobOf("bad");
  one.graph.nodes.clear();
  ASSERT_OK_AND_ASSIGN(const UserModules modules, Load(one));
  EXPECT_EQ(modules[0], nullptr);
  EXPECT_EQ(compilations_, 0);
}

TEST_F(UserModuleStoreTest, AnErrorOfTheCompilerIsGivenAndLeavesNothing) {
  EXPECT_THAT(Load(JobOf("bad")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bad.cu(1)")));
  EXPECT_OK(Load(JobOf("code")));
}

TEST_F(UserModuleStoreTest, TruncatedImagesNeverReachTheDriver) {
  OneModule one = JobOf("");
  one.job.mutable_modules(0)->set_fatbin("not a fatbin");
  EXPECT_THAT(Load(one), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"mine\"")));
  one.job.mutable_modules(0)->set_cubin(ReadFile(TestImagePath()));
  EXPECT_THAT(Load(one), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another kind")));
}

// The CPU driver loads no fatbin, as a GPU's loads none for another architecture.
TEST_F(UserModuleStoreTest, AnImageForOtherDevicesIsRefusedWithWhatItHolds) {
  OneModule one = JobOf("");
  one.job.mutable_modules(0)->set_ptx(".version 8.4\n.target sm_75\n.address_size 64\n");
  EXPECT_THAT(
      Load(one),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("module \"mine\" has code for compute_75 (PTX 8.4), and the device "
                         "is sm_90 (Test)")));
}

// Loading, looking up and letting go at once: the locks have one order.
TEST_F(UserModuleStoreTest, ManyThreadsLoadAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> loaded = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto modules = Load(JobOf("code " + std::to_string((i + t) % 3)));
        loaded += modules.ok() && (*modules)[0]->Find("increment").ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loaded, 80);
}

}  // namespace
}  // namespace weft::executor
