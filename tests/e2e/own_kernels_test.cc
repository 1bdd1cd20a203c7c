// Kernels that jobs bring along, from the command line to the device and back.
#include <gmock/gmock.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tests/e2e/weft_fixture.h"

namespace weft::e2e {
namespace {

using ::testing::HasSubstr;

constexpr char kSource[] = R"(
extern "C" __global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
)";

// One launch of `entry` over 4 floats.
std::string JobOf(const std::string& source, const std::string& entry, const std::string& params,
                  const std::string& module = "", const std::string& block = "64") {
  return absl::StrCat(
      "name: 'own' buffers { name: 'x' data_type: DATA_TYPE_F32 shape: 4 } modules { name: 'mine' ",
      module, " cuda: \"", absl::CEscape(source), "\" } ",
      "nodes { kernel { kernel: 'fill' args { name: 'dst' view { buffer: 'x' } } } } ",
      "nodes { name: 'n' user_kernel { module: 'mine' entry: '", entry, "' ", params,
      " launch { grid_x: 1 grid_y: 1 grid_z: 1 block_x: ", block, " block_y: 1 block_z: 1 } } }");
}

constexpr char kParams[] = "params { view { buffer: 'x' } } params { i32: 4 }";

class OwnKernelsTest : public WeftTest {
 protected:
  void ExpectFailure(const std::string& job, int exit_code, const std::string& text) {
    const ProgramResult run = RunJob(job);
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(text));
    EXPECT_EQ(RunCanary(), 0);
  }
};

TEST_F(OwnKernelsTest, ErrorsAreToldAndTheNextJobRuns) {
  StartDaemon();
  EXPECT_EQ(RunJob(JobOf(kSource, "twice", kParams)).exit_code, 0);
  ExpectFailure(JobOf(kSource, "twice", "params { view { buffer: 'x' } }"), 1,
                "takes 2 parameters, and the job gives 1");
  ExpectFailure(JobOf(kSource, "twice", "params { view { buffer: 'x' } } params { i64: 4 }"), 1,
                "parameter 1 of kernel \"twice\" has 4 bytes, and the job gives 8");
  ExpectFailure(JobOf(kSource, "thrice", kParams), 1, "thrice");
  ExpectFailure(JobOf("__global__ void k() { nonsense; }", "k", ""), 1, "nonsense");
  ExpectFailure(JobOf(kSource, "twice", kParams, "options: '-I/etc'"), 1, "-I/etc");
  ExpectFailure(JobOf(kSource, "twice", kParams, "", "2000"), kBadInput,
                "above the device's limit");
}

TEST_F(OwnKernelsTest, AServerMayRefuseThem) {
  StartDaemon({"--user-kernels=nobody"});
  ExpectFailure(JobOf(kSource, "twice", kParams), kRefused, "user_kernels: nobody");
}

}  // namespace
}  // namespace weft::e2e
