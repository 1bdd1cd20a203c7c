#include "kernels/compile/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace weft::kernels {
namespace {

TEST(OptionsTest, AllowedOptions) {
  EXPECT_OK(CheckOptions({}));
  EXPECT_OK(CheckOptions({"-DN", "-DN=1", "-DN=a b", "-D_x9=", "-UN", "-std=c++14", "--std=c++17",
                          "-std=c++20", "--use_fast_math", "-use_fast_math", "--fmad=true",
                          "-fmad=false", "-lineinfo", "--generate-line-info", "--maxrregcount=32",
                          "-maxrregcount=0", "--extra-device-vectorization", "--restrict"}));
}

TEST(OptionsTest, EverythingElseIsRefusedByName) {
  for (const std::string option : {"",
                                   "-",
                                   "--",
                                   "-I/etc",
                                   "-include",
                                   "-includex.h",
                                   "file.cu",
                                   "@file",
                                   "-D",
                                   "-D1",
                                   "-D N",
                                   "-Dfoo(x)=1",
                                   "-U",
                                   "-UN=1",
                                   "-std=c++23",
                                   "-std=gnu++17",
                                   "---restrict",
                                   "--fmad=maybe",
                                   "--maxrregcount=-1",
                                   "--maxrregcount=256",
                                   "--maxrregcount=",
                                   "-O0",
                                   "-o",
                                   "-Xcompiler",
                                   "-Wl,-z",
                                   "-fplugin=x.so",
                                   "-DN=a\nb",
                                   "-specs=x"}) {
    const absl::Status status = CheckOptions({option});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << option;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("Allowed")) << option;
  }
  EXPECT_FALSE(CheckOptions({"-DN=" + std::string(kMaxOptionBytes, 'x')}).ok());
  EXPECT_FALSE(CheckOptions(std::vector<std::string>(kMaxOptions + 1, "-DN")).ok());
}

TEST(OptionsTest, HeaderNames) {
  for (const char* name : {"a.h", "a/b-c+d_1.cuh", "vector", "..a.h"})
    EXPECT_OK(CheckHeaderName(name));
  for (const std::string name : {"", "/a.h", "a/../b.h", "..", ".", "./a.h", "a//b.h", "a/",
                                 "a b.h", "a\\b.h", "a\"b", "a\n", "~/a.h"}) {
    EXPECT_EQ(CheckHeaderName(name).code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(CheckHeaderName(std::string(kMaxHeaderNameBytes + 1, 'a')).ok());
}

TEST(OptionsTest, Entries) {
  for (const char* entry : {"k", "ns::axpy<float>", "f<int*, 'a', (1 > 0)>", "f<const A&>"})
    EXPECT_OK(CheckEntry(entry));
  for (const std::string entry : {"", "a;b", "a\"b", "a\\b", "a\nb", "a{}", "#a"})
    EXPECT_EQ(CheckEntry(entry).code(), absl::StatusCode::kInvalidArgument) << entry;
  EXPECT_FALSE(CheckEntry(std::string(kMaxEntryBytes + 1, 'a')).ok());
}

}  // namespace
}  // namespace weft::kernels
