// Compiling code of jobs, without a device: caches, checks of images, and NVRTC where it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/compile/caching_compiler.h"
#include "kernels/compile/image_cache.h"
#include "kernels/compile/image_format.h"
#include "kernels/compile/nvrtc_compiler.h"
#include "kernels/expression/expression_source.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::kernels {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using weft::testing::StatusIs;
namespace fs = std::filesystem;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

class CountingCompiler final : public Compiler {
 public:
  explicit CountingCompiler(std::atomic<int>& count) : count_(count) {}
  absl::StatusOr<CompiledModule> Compile(const CudaSource& source) const override {
    ++count_;
    return CompiledModule{"image of " + source.code, source.entries};
  }
  std::string Identity() const override { return "counting"; }

 private:
  std::atomic<int>& count_;
};

CachingCompiler CompilerAt(const std::string& folder, std::atomic<int>& count) {
  return CachingCompiler(std::make_unique<CountingCompiler>(count), ImageCache(folder));
}

fs::path OnlyFileIn(const std::string& folder) { return fs::directory_iterator(folder)->path(); }

TEST(CachingCompilerTest, ASourceIsCompiledOnceAcrossCompilers) {
  const weft::testing::TempDir folder;
  std::atomic<int> count = 0;
  const CudaSource source{.name = "m", .code = "text", .entries = {"k"}};
  ASSERT_OK(CompilerAt(folder.path(), count).Compile(source));
  ASSERT_OK_AND_ASSIGN(const CompiledModule again,
                       CompilerAt(folder.path(), count).Compile(source));
  EXPECT_EQ(count, 1);
  EXPECT_EQ(again.image, "image of text");
  EXPECT_EQ(again.symbols, std::vector<std::string>{"k"});
}

TEST(CachingCompilerTest, EveryPartOfASourceCounts) {
  const weft::testing::TempDir folder;
  std::atomic<int> count = 0;
  const CachingCompiler compiler = CompilerAt(folder.path(), count);
  CudaSource source{.name = "m", .code = "text", .entries = {"k"}};
  ASSERT_OK(compiler.Compile(source));
  source.options = {"-DN=1"};
  ASSERT_OK(compiler.Compile(source));
  source.headers = {{"a.h", "1"}};
  ASSERT_OK(compiler.Compile(source));
  source.headers = {{"a.h", "2"}};
  ASSERT_OK(compiler.Compile(source));
  source.entries = {"l"};
  ASSERT_OK(compiler.Compile(source));
  EXPECT_EQ(count, 5);
}

TEST(CachingCompilerTest, ADamagedFileIsCompiledAnew) {
  const weft::testing::TempDir folder;
  std::atomic<int> count = 0;
  const CachingCompiler compiler = CompilerAt(folder.path(), count);
  const CudaSource source{.name = "m", .code = "text", .entries = {"k"}};
  ASSERT_OK(compiler.Compile(source));
  const fs::path file = OnlyFileIn(folder.path());
  const auto size = fs::file_size(file);
  for (uintmax_t cut = 0; cut < size; cut += 7) {
    fs::resize_file(file, cut);
    ASSERT_OK_AND_ASSIGN(const CompiledModule module, compiler.Compile(source));
    EXPECT_EQ(module.image, "image of text");
  }
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(-1, std::ios::end)
      .put('?');
  const int before = count;
  ASSERT_OK(compiler.Compile(source));
  EXPECT_EQ(count, before + 1);
}

TEST(CachingCompilerTest, AFolderThatCannotBeWrittenCostsTheCacheAlone) {
  std::atomic<int> count = 0;
  EXPECT_OK(CompilerAt("/proc/nothing", count).Compile({.name = "m", .code = "text"}));
  EXPECT_OK(CompilerAt("", count).Compile({.name = "m", .code = "text"}));
}

TEST(ImageCacheTest, TheFolderStaysBelowItsLimit) {
  const weft::testing::TempDir folder;
  const ImageCache cache(folder.path(), 4000);
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(cache.Put("key" + std::to_string(i), {std::string(1000, 'x'), {}}));
  }
  uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) bytes += entry.file_size();
  EXPECT_LE(bytes, 4000u);
  EXPECT_GT(bytes, 0u);
}

TEST(ImageFormatTest, WhatIsNoImageIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("ELF"), std::string(500, 'x')}) {
    EXPECT_THAT(CheckPtx("m", bytes), StatusIs(kInvalid));
    EXPECT_THAT(CheckCubin("m", bytes), StatusIs(kInvalid));
    EXPECT_THAT(CheckFatbin("m", bytes), StatusIs(kInvalid));
  }
  EXPECT_OK(CheckPtx("m", ".version 8.0\n.target sm_80\n"));
}

TEST(ImageFormatTest, AFatbinMustHaveTheSizeThatItStates) {
  const std::string header("\x50\xed\x55\xba\x01\x00\x10\x00\x08\x00\x00\x00\x00\x00\x00\x00", 16);
  EXPECT_OK(CheckFatbin("m", header + std::string(8, 'x')));
  EXPECT_THAT(CheckFatbin("m", header + std::string(7, 'x')),
              StatusIs(kInvalid, HasSubstr("cut short")));
  std::string huge = header;
  huge.replace(8, 8, 8, '\xff');
  EXPECT_THAT(CheckFatbin("m", huge + std::string(8, 'x')), StatusIs(kInvalid));
}

// NVRTC needs no GPU; it comes with the CUDA Toolkit, whose headers alone are needed to build.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto compiler = NvrtcCompiler::Create({9, 0});
    if (!compiler.ok()) GTEST_SKIP() << compiler.status();
    compiler_ = *std::move(compiler);
  }
  std::unique_ptr<NvrtcCompiler> compiler_;
};

TEST_F(NvrtcTest, CompilesKernelsByNameExpression) {
  const CudaSource source{
      .name = "mine",
      .code =
          "#include \"half.h\"\n"
          "extern \"C\" __global__ void scale(float* x) { x[threadIdx.x] *= HALF; }\n"
          "namespace ns { template <typename T> __global__ void fill(T* x) { *x = T(N); } }\n",
      .options = {"-DN=3"},
      .headers = {{"half.h", "#define HALF 0.5f"}},
      .entries = {"ns::fill<double>", "scale"}};
  ASSERT_OK_AND_ASSIGN(const CompiledModule module, compiler_->Compile(source));
  EXPECT_OK(CheckCubin("mine", module.image));
  ASSERT_EQ(module.symbols.size(), 2u);
  EXPECT_THAT(module.symbols[0], StartsWith("_ZN2ns4fillIdEE"));
  EXPECT_EQ(module.symbols[1], "scale");
}

TEST_F(NvrtcTest, CompilesExpressionsOfEveryFunctionInEveryType) {
  for (const DType dtype : AllDTypes()) {
    if (SizeOf(dtype) == 2 && IsFloat(dtype)) continue;
    std::string text =
        "y = -x * x / x % x + x - x + (x < 1) + (x <= x) + (x > 1) + (x >= 1) + (x == 1)";
    for (const ExpressionFunction& function : ExpressionFunctions()) {
      if (function.operands == ExpressionFunction::Operands::kFloats && !IsFloat(dtype)) continue;
      absl::StrAppend(&text, " + ", function.name, "(x", function.arity > 1 ? ", 2" : "",
                      function.arity > 2 ? ", x != 3" : "", ")");
    }
    ASSERT_OK_AND_ASSIGN(const Expression expression, ParseExpression(text));
    ASSERT_OK_AND_ASSIGN(
        const std::string body,
        ExpressionSource(expression, dtype, {{ExpressionOperand::Kind::kElements, dtype}}));
    EXPECT_OK(compiler_->Compile({.name = "m",
                                  .code = "extern \"C\" __global__ void k" + body,
                                  .options = {"--fmad=false"},
                                  .entries = {"k"}}))
        << NameOf(dtype);
  }
}

TEST_F(NvrtcTest, ATruncatedCubinIsRefused) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledModule module,
      compiler_->Compile({.name = "m", .code = "__global__ void k() {}", .entries = {"k"}}));
  for (size_t size = 0; size < module.image.size(); size += 97) {
    EXPECT_THAT(CheckCubin("m", module.image.substr(0, size)), StatusIs(kInvalid)) << size;
  }
}

TEST_F(NvrtcTest, AnErrorHasTheCompilersLines) {
  const auto module = compiler_->Compile(
      {.name = "mine", .code = "\n__global__ void k() { nonsense; }", .entries = {"k"}});
  EXPECT_THAT(module.status(),
              StatusIs(kInvalid, AllOf(HasSubstr("mine.cu(2)"), HasSubstr("nonsense"))));
}

TEST_F(NvrtcTest, AKernelThatIsNotThereIsNamed) {
  const auto module = compiler_->Compile(
      {.name = "mine", .code = "__global__ void k() {}", .entries = {"missing"}});
  EXPECT_THAT(module.status(), StatusIs(kInvalid, HasSubstr("missing")));
}

TEST_F(NvrtcTest, LongErrorsAreCut) {
  std::string code;
  for (int i = 0; i < 500; ++i) code += "int a" + std::to_string(i) + " = nonsense;\n";
  const auto module = compiler_->Compile({.name = "mine", .code = code, .entries = {"k"}});
  EXPECT_LT(module.status().message().size(), kMaxLogBytes + 100);
}

}  // namespace
}  // namespace weft::kernels
