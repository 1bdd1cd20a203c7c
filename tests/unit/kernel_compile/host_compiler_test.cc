#include "kernels/compile/host_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::kernels {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HostCompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, HostCompiler::Create(HostCompiler::DefaultSettings()));
  }
  absl::StatusOr<CompiledModule> Compile(const std::string& code, const std::string& entry) {
    CudaSource source;
    source.name = "my kernel";
    source.code = code;
    source.entries = {entry};
    return compiler_->Compile(source);
  }
  std::unique_ptr<HostCompiler> compiler_;
};

TEST_F(HostCompilerTest, ErrorsNameTheSourceAndItsLine) {
  const absl::Status status =
      Compile("__constant__ int\n  c;\n__global__ void k(int* x) {\n  x[0] = undefined;\n}\n", "k")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("my_kernel.cu:4:"), HasSubstr("undefined"), Not(HasSubstr("/tmp")),
                    Not(HasSubstr("weft-compile"))));
}

TEST_F(HostCompilerTest, ErrorsInHeadersNameThem) {
  CudaSource source;
  source.name = "k";
  source.code = "#include \"a/b.h\"\n__global__ void k() {}\n";
  source.headers = {{"a/b.h", "\n\nint f() { return nothing; }\n"}};
  source.entries = {"k"};
  EXPECT_THAT(std::string(compiler_->Compile(source).status().message()), HasSubstr("a/b.h:3:"));
}

TEST_F(HostCompilerTest, UnknownEntryIsNamed) {
  const absl::Status status = Compile("__global__ void k() {}", "other<int>").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("entry other<int>"));
}

TEST_F(HostCompilerTest, WhatIsNoKernelIsNoEntry) {
  EXPECT_THAT(std::string(Compile("int k(int x) { return x; }", "k").status().message()),
              HasSubstr("returns void"));
}

TEST_F(HostCompilerTest, ManagedVariablesAreRefused) {
  EXPECT_THAT(
      std::string(
          Compile("__managed__ int x;\n__global__ void k() { x = 1; }", "k").status().message()),
      HasSubstr("__managed__ variables are not available"));
}

TEST_F(HostCompilerTest, FunctionThatIsNowhereIsAnErrorOfTheCompilation) {
  EXPECT_THAT(
      std::string(Compile("extern \"C\" void nowhere();\n__global__ void k() { nowhere(); }", "k")
                      .status()
                      .message()),
      HasSubstr("nowhere"));
}

TEST_F(HostCompilerTest, LogIsBounded) {
  std::string code = "__global__ void k() {\n";
  for (int i = 0; i < 500; ++i) code += "unknown_" + std::to_string(i) + " = 1;\n";
  const absl::Status status = Compile(code + "}\n", "k").status();
  EXPECT_LE(status.message().size(), kMaxLogBytes + 200);
  EXPECT_THAT(std::string(status.message()), HasSubstr("unknown_0"));
}

TEST_F(HostCompilerTest, TooMuchSharedMemoryIsRefused) {
  EXPECT_THAT(std::string(Compile("__global__ void k(int i) { __shared__ int x[1 << 23]; x[i] = 1;"
                                  " __syncthreads(); atomicAdd(x, x[i + 1]); }",
                                  "k")
                              .status()
                              .message()),
              HasSubstr("__shared__ variables"));
}

TEST_F(HostCompilerTest, ForbiddenOptionsNamesAndEntriesAreRefused) {
  CudaSource source;
  source.code = "__global__ void k() {}";
  source.entries = {"k"};
  source.options = {"-include/etc/passwd"};
  EXPECT_EQ(compiler_->Compile(source).status().code(), absl::StatusCode::kInvalidArgument);
  source.options.clear();
  source.headers = {{"../x.h", ""}};
  EXPECT_EQ(compiler_->Compile(source).status().code(), absl::StatusCode::kInvalidArgument);
  source.headers.clear();
  source.entries = {"k\"; system(\""};
  EXPECT_EQ(compiler_->Compile(source).status().code(), absl::StatusCode::kInvalidArgument);
  source.entries.clear();
  EXPECT_EQ(compiler_->Compile(source).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(HostCompilerTest, NothingIsLeftBehind) {
  const testing::TempDir folder;
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  EXPECT_OK(Compile("__global__ void k() {}", "k").status());
  EXPECT_FALSE(Compile("__global__ void k() { x }", "k").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
}

TEST_F(HostCompilerTest, IdentityNamesCompilerAndHeaders) {
  EXPECT_THAT(compiler_->Identity(), AllOf(HasSubstr("++"), HasSubstr("headers ")));
}

TEST_F(HostCompilerTest, MissingCompilerSaysWhatToInstall) {
  HostCompiler::Settings settings = HostCompiler::DefaultSettings();
  settings.compilers = {"no-such-c++"};
  const absl::Status status = HostCompiler::Create(settings).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("apt-get install g++"));
}

TEST_F(HostCompilerTest, MissingHeadersSayWhereTheyWereLookedFor) {
  HostCompiler::Settings settings = HostCompiler::DefaultSettings();
  settings.header_folders = {"/nowhere/at/all"};
  const absl::Status status = HostCompiler::Create(settings).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/at/all"));
}

TEST_F(HostCompilerTest, CompilationThatTakesTooLongIsKilled) {
  HostCompiler::Settings settings = HostCompiler::DefaultSettings();
  settings.time_limit = absl::Milliseconds(1);
  ASSERT_OK_AND_ASSIGN(compiler_, HostCompiler::Create(settings));
  EXPECT_EQ(Compile("__global__ void k() {}", "k").status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace weft::kernels
