// The readers of compiled code, on what the toolkit's compiler made of sample.cu, against what that
// compiler said of it (--resource-usage).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/compile/code_images.h"
#include "kernels/compile/cubin_info.h"
#include "kernels/compile/ptx_info.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using weft::testing::ReadFile;
using weft::testing::StatusIs;

std::string Sample(const std::string& name) { return ReadFile(WEFT_SAMPLE_DIR "/" + name); }

const KernelInfo* Find(const CodeInfo& info, const std::string& name) {
  for (const KernelInfo& kernel : info.kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

struct Said {
  uint32_t registers = 0;
  uint32_t stack = 0;
  uint32_t shared = 0;
};

// By kernel, from the compiler's lines.
std::map<std::string, Said> WhatTheCompilerSaid(const std::string& file) {
  std::map<std::string, Said> said;
  std::istringstream lines(Sample(file));
  std::string line;
  std::string kernel;
  std::smatch match;
  while (std::getline(lines, line)) {
    if (std::regex_search(line, match, std::regex("entry function '([^']+)'"))) kernel = match[1];
    if (std::regex_search(line, match, std::regex("(\\d+) bytes stack frame"))) {
      said[kernel].stack = std::stoul(match[1]);
    }
    if (!std::regex_search(line, match, std::regex("Used (\\d+) registers"))) continue;
    said[kernel].registers = std::stoul(match[1]);
    if (std::regex_search(line, match, std::regex("(\\d+) bytes smem"))) {
      said[kernel].shared = std::stoul(match[1]);
    }
  }
  return said;
}

class CubinTest : public ::testing::TestWithParam<int> {
 protected:
  std::string name() const { return "sample_" + std::to_string(GetParam()); }
};

TEST_P(CubinTest, ResourcesAreThoseThatTheCompilerPrints) {
  ASSERT_OK_AND_ASSIGN(const CodeInfo info, ReadCubin("sample", Sample(name() + ".cubin")));
  EXPECT_EQ(info.architecture, "sm_" + std::to_string(GetParam()));
  const std::map<std::string, Said> said = WhatTheCompilerSaid(name() + ".txt");
  ASSERT_EQ(info.kernels.size(), said.size());
  for (const auto& [kernel, expected] : said) {
    const KernelInfo* const found = Find(info, kernel);
    ASSERT_NE(found, nullptr) << kernel;
    ASSERT_TRUE(found->resources.has_value());
    EXPECT_EQ(found->resources->registers, expected.registers) << kernel;
    EXPECT_EQ(found->resources->stack_bytes, expected.stack) << kernel;
    EXPECT_EQ(found->resources->static_shared_bytes, expected.shared) << kernel;
  }
}

TEST_P(CubinTest, ParametersLieAsTheyAreDeclared) {
  ASSERT_OK_AND_ASSIGN(const CodeInfo info, ReadCubin("sample", Sample(name() + ".cubin")));
  using Param = KernelParameterInfo;
  EXPECT_THAT(Find(info, "_Z5scaleIfEvPT_S0_i")->parameters,
              ElementsAre(Param{0, 8}, Param{8, 4}, Param{12, 4}));
  EXPECT_THAT(Find(info, "packed")->parameters,
              ElementsAre(Param{0, 24}, Param{24, 1}, Param{32, 8}));
  EXPECT_THAT(Find(info, "large")->parameters, ElementsAre(Param{0, 20000}, Param{20000, 8}));
}

TEST_P(CubinTest, LimitsAndVariablesAreFound) {
  ASSERT_OK_AND_ASSIGN(const CodeInfo info, ReadCubin("sample", Sample(name() + ".cubin")));
  EXPECT_THAT(Find(info, "mix")->max_block, ElementsAre(256, 1, 1));
  EXPECT_THAT(Find(info, "packed")->max_block, ElementsAre(0, 0, 0));
  ASSERT_EQ(info.variables.size(), 2u);
  EXPECT_EQ(info.variables[0].name, "coefficients");
  EXPECT_EQ(info.variables[0].size_bytes, 64u);
  EXPECT_TRUE(info.variables[0].constant);
  EXPECT_EQ(info.variables[1].name, "counter");
  EXPECT_FALSE(info.variables[1].constant);
  const KernelInfo* const clustered = Find(info, "clustered");
  ASSERT_EQ(clustered != nullptr, GetParam() >= 90);
  if (clustered != nullptr) {
    EXPECT_THAT(clustered->cluster, ElementsAre(2, 1, 1));
  }
}

// Whatever the bytes are, the answer is a status: no read outside of them (the sanitizers watch).
TEST_P(CubinTest, TruncatedAndDamagedFilesAreRefusedOrRead) {
  const std::string whole = Sample(name() + ".cubin");
  for (size_t size = 0; size < whole.size(); size += 97) {
    (void)ReadCubin("cut", absl::string_view(whole).substr(0, size));
  }
  for (size_t at = 0; at < whole.size(); at += 13) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(0xff);
    (void)ReadCubin("damaged", damaged);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CubinTest, ::testing::Values(75, 80, 90, 120));

TEST(FatbinReaderTest, EachImageIsListedWithItsArchitecture) {
  const std::string bytes = Sample("sample.fatbin");
  ASSERT_OK_AND_ASSIGN(const auto images, ReadImages("sample", bytes));
  EXPECT_EQ(ListArchitectures(images), "sm_75, sm_90a and compute_90a (PTX 9.0)");
}

TEST(FatbinReaderTest, UncompressedImagesAreRead) {
  const std::string bytes = Sample("sample.fatbin");
  ASSERT_OK_AND_ASSIGN(const auto images, ReadImages("sample", bytes));
  ASSERT_OK_AND_ASSIGN(const CodeInfo machine_code, ReadImage("sample", images[1]));
  EXPECT_EQ(machine_code.architecture, "sm_90a");
  EXPECT_NE(Find(machine_code, "clustered"), nullptr);
  ASSERT_OK_AND_ASSIGN(const CodeInfo ptx, ReadImage("sample", images[2]));
  EXPECT_NE(Find(ptx, "clustered"), nullptr);
}

TEST(FatbinReaderTest, CompressedImagesAreListedAndNotRead) {
  const std::string bytes = Sample("sample_compressed.fatbin");
  ASSERT_OK_AND_ASSIGN(const auto images, ReadImages("sample", bytes));
  EXPECT_EQ(ListArchitectures(images), "compute_90 (PTX 9.0)");
  EXPECT_THAT(ReadImage("sample", images[0]),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("--no-compress")));
}

TEST(FatbinReaderTest, TruncatedAndDamagedFilesAreRefusedOrRead) {
  const std::string whole = Sample("sample.fatbin");
  for (size_t size = 0; size < whole.size(); size += 97) {
    EXPECT_FALSE(ReadFatbin("cut", absl::string_view(whole).substr(0, size)).ok());
  }
  for (size_t at = 0; at < 256; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(0xff);
    const auto images = ReadFatbin("damaged", damaged);
    if (!images.ok()) continue;
    for (const FatbinImage& image : *images) (void)ReadImage("damaged", image);
  }
}

TEST(PtxInfoTest, DeclarationsAreThoseOfTheMachineCode) {
  ASSERT_OK_AND_ASSIGN(const CodeInfo ptx, ReadPtx("sample", Sample("sample.ptx")));
  ASSERT_OK_AND_ASSIGN(const CodeInfo cubin, ReadCubin("sample", Sample("sample_90.cubin")));
  EXPECT_EQ(ptx.architecture, "compute_90");
  ASSERT_EQ(ptx.kernels.size(), cubin.kernels.size());
  for (size_t i = 0; i < ptx.kernels.size(); ++i) {
    EXPECT_EQ(ptx.kernels[i].name, cubin.kernels[i].name);
    EXPECT_EQ(ptx.kernels[i].parameters, cubin.kernels[i].parameters) << ptx.kernels[i].name;
    EXPECT_EQ(ptx.kernels[i].max_block, cubin.kernels[i].max_block) << ptx.kernels[i].name;
    EXPECT_EQ(ptx.kernels[i].cluster, cubin.kernels[i].cluster) << ptx.kernels[i].name;
    EXPECT_FALSE(ptx.kernels[i].resources.has_value());
  }
  ASSERT_EQ(ptx.variables.size(), 2u);
  EXPECT_EQ(ptx.variables[0].size_bytes, 64u);
  EXPECT_EQ(ptx.variables[1].size_bytes, 4u);
}

}  // namespace
}  // namespace weft::kernels
