// `weft kernel`: what is in compiled code, and compiling without a server.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/run_program.h"
#include "tests/testing/daemon_process.h"
#include "tests/testing/temp_dir.h"

namespace weft::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kScaleSource[] = R"(
#include "factor.h"
__constant__ float table[16];
template <typename T>
__global__ void scale(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= FACTOR * static_cast<T>(table[OFFSET]);
}
extern "C" __global__ void __launch_bounds__(128) one(float* x) { x[0] = FACTOR; }
)";

constexpr char kSmallPtx[] = R"(.version 8.4
.target sm_90a
.address_size 64
.const .align 4 .b8 coefficients[64];
.visible .entry k(.param .u64 k_0, .param .f32 k_1)
.maxntid 64
{ ret; }
)";

class KernelCommandTest : public ::testing::Test {
 protected:
  ProgramResult Kernel(std::vector<std::string> arguments,
                       const std::vector<std::string>& environment = {}) const {
    arguments.insert(arguments.begin(), {testing::ProgramFolder() + "/weft", "kernel"});
    return RunProgram(arguments, environment);
  }
  std::string Written(const std::string& name, const std::string& text) const {
    return dir_.WriteFile(name, text);
  }

  testing::TempDir dir_;
};

TEST_F(KernelCommandTest, PtxIsExplainedWithoutACompiler) {
  const ProgramResult info = Kernel({"info", Written("k.ptx", kSmallPtx)});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("compute_90a"));
  EXPECT_THAT(info.out, HasSubstr("8 4"));
  EXPECT_THAT(info.out, HasSubstr("constant coefficients: 64 B"));
}

TEST_F(KernelCommandTest, TheSameAsJson) {
  const ProgramResult info = Kernel({"info", "--json", Written("k.ptx", kSmallPtx)});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  google::protobuf::Struct report;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(info.out, &report).ok()) << info.out;
  const auto& image = report.fields().at("images").list_value().values(0).struct_value();
  const auto& kernel = image.fields().at("kernels").list_value().values(0).struct_value();
  EXPECT_EQ(kernel.fields().at("name").string_value(), "k");
  EXPECT_EQ(kernel.fields().at("parameter_bytes").number_value(), 12);
  EXPECT_EQ(kernel.fields().at("max_threads_per_block").number_value(), 64);
}

TEST_F(KernelCommandTest, WhatIsNoCodeIsRefused) {
  for (const char* text : {"", "hello", "\177ELF", "\x50\xed\x55\xba"}) {
    const ProgramResult info = Kernel({"info", Written("k.cubin", text)});
    EXPECT_EQ(info.exit_code, kBadInput) << info.err;
    EXPECT_THAT(info.err, HasSubstr("k.cubin"));
  }
}

TEST_F(KernelCommandTest, WrongWordsAreRefused) {
  EXPECT_EQ(Kernel({"build", Written("k.ptx", kSmallPtx)}).exit_code, kBadInput);
  EXPECT_EQ(Kernel({"build", Written("k.cu", kScaleSource), "-o", dir_.File("k.o")}).exit_code,
            kBadInput);
  EXPECT_EQ(Kernel({"info", Written("k.ptx", kSmallPtx), "--arch=ninety"}).exit_code, kBadInput);
  EXPECT_NE(Kernel({"explain", Written("k.ptx", kSmallPtx)}).exit_code, 0);
}

TEST_F(KernelCommandTest, WithoutNvrtcCompilingSaysWhatIsMissing) {
  const ProgramResult build = Kernel(
      {"build", Written("k.cu", kScaleSource)},
      {"WEFT_NVRTC=" + dir_.File("none.so"), "LD_LIBRARY_PATH=", "CUDA_HOME=" + dir_.path()});
  if (build.exit_code == 0 || build.err.find("factor.h") != std::string::npos) {
    GTEST_SKIP() << "the machine has an NVRTC that cannot be hidden";
  }
  EXPECT_THAT(build.err, HasSubstr("NVRTC"));
}

class KernelBuildTest : public KernelCommandTest {
 protected:
  void SetUp() override {
    const ProgramResult probe =
        Kernel({"build", Written("probe.cu", "__global__ void k() {}"), "-o", dir_.File("p.ptx")});
    if (probe.exit_code != 0 && probe.err.find("NVRTC") != std::string::npos) {
      GTEST_SKIP() << "compiling needs NVRTC: " << probe.err;
    }
    ASSERT_EQ(probe.exit_code, 0) << probe.err;
    std::filesystem::create_directory(dir_.File("include"));
    Written("include/factor.h", "#define FACTOR 2\n");
    source_ = Written("k.cu", kScaleSource);
  }
  ProgramResult Build(const std::string& output, std::vector<std::string> more = {}) const {
    more.insert(more.begin(),
                {"build", source_, "-o", output, "-I", dir_.File("include"), "-D", "OFFSET=3"});
    return Kernel(more);
  }
  std::string source_;
};

TEST_F(KernelBuildTest, MakesMachineCodeThatInfoExplains) {
  const std::string cubin = dir_.File("k.cubin");
  const ProgramResult build = Build(cubin, {"--entry=scale<float>", "--entry=one", "--arch=sm_80"});
  ASSERT_EQ(build.exit_code, 0) << build.err;
  EXPECT_THAT(build.out, HasSubstr("for sm_80"));
  EXPECT_THAT(build.out, HasSubstr("scale<float> is _Z5scaleIfEvPT_i"));
  const ProgramResult info = Kernel({"info", cubin, "--block=128"});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("sm_80"));
  EXPECT_THAT(info.out, HasSubstr("void scale<float>(float*, int)"));
  EXPECT_THAT(info.out, HasSubstr("OCCUPANCY AT 128"));
  EXPECT_THAT(info.out, HasSubstr("100%"));
}

TEST_F(KernelBuildTest, MakesPtxByTheEndingOfTheOutput) {
  const std::string ptx = dir_.File("k.ptx");
  const ProgramResult build = Build(ptx, {"--arch=90"});
  ASSERT_EQ(build.exit_code, 0) << build.err;
  EXPECT_THAT(testing::ReadFile(ptx), HasSubstr(".target sm_90"));
  EXPECT_THAT(Kernel({"info", ptx}).out, HasSubstr("one"));
}

TEST_F(KernelBuildTest, ErrorsOfTheCompilerAreShown) {
  source_ = Written("wrong.cu", "__global__ void k() { nonsense; }");
  const ProgramResult build = Build(dir_.File("wrong.cubin"));
  EXPECT_NE(build.exit_code, 0);
  EXPECT_THAT(build.err, HasSubstr("nonsense"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("wrong.cubin")));
}

TEST_F(KernelBuildTest, InfoCompilesASource) {
  const std::string source =
      Written("plain.cu", "extern \"C\" __global__ void f(double* x) { *x = 1; }");
  const ProgramResult info = Kernel({"info", source, "--arch=sm_75"});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("sm_75"));
  EXPECT_THAT(info.out, HasSubstr("f"));
  EXPECT_THAT(info.out, Not(HasSubstr("unread")));
}

}  // namespace
}  // namespace weft::e2e
