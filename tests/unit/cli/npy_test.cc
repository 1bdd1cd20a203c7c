#include "client/cli/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"

namespace weft::cli {
namespace {

using kernels::DType;
using ::testing::HasSubstr;
using weft::testing::StatusIs;

// A version 1 file with this dictionary and `data_bytes` zeros behind it.
std::string FileWith(const std::string& dictionary, size_t data_bytes) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(dictionary.size() & 0xff));
  file.push_back(static_cast<char>(dictionary.size() >> 8));
  return file + dictionary + std::string(data_bytes, '\0');
}

std::string Dictionary(const std::string& descr, const std::string& shape,
                       const std::string& order = "False") {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order, ", 'shape': ", shape,
                      ", }\n");
}

void ExpectNpyRefused(const std::string& file, const std::string& text) {
  EXPECT_THAT(ParseNpyHeader("x.npy", file),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::AllOf(HasSubstr("x.npy: "), HasSubstr(text))));
}

TEST(NpyTest, EveryTypeAndShapeComesBackAsItWasWritten) {
  for (const DType dtype : kernels::AllDTypes()) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {3}, {0, 5}, {2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}}) {
      const ArrayType type = {dtype, shape};
      const std::string header = MakeNpyHeader(type);
      EXPECT_EQ(header.size() % 64, 0u);
      ASSERT_OK_AND_ASSIGN(const NpyHeader parsed,
                           ParseNpyHeader("x.npy", header + std::string(*BytesOf(type), 'x')));
      EXPECT_EQ(parsed.type, type) << Describe(type);
      EXPECT_EQ(parsed.header_bytes, header.size());
    }
  }
}

TEST(NpyTest, ReadsWhatNumPyWrites) {
  // numpy.save of numpy.zeros((2, 3), '<f4'), and version 2 of the same.
  ASSERT_OK_AND_ASSIGN(const NpyHeader parsed,
                       ParseNpyHeader("x", FileWith(Dictionary("<f4", "(2, 3)"), 24)));
  EXPECT_EQ(parsed.type, (ArrayType{DType::kF32, {2, 3}}));
  const std::string dictionary = Dictionary("|u1", "(3,)");
  std::string second("\x93NUMPY\x02\x00", 8);
  second.append({static_cast<char>(dictionary.size()), 0, 0, 0});
  ASSERT_OK_AND_ASSIGN(const NpyHeader v2, ParseNpyHeader("x", second + dictionary + "abc"));
  EXPECT_EQ(v2.type, (ArrayType{DType::kU8, {3}}));
  // Any order of the entries, double quotes, Python 2's integers.
  EXPECT_OK(ParseNpyHeader(
      "x", FileWith("{\"shape\": (2L, 3L), \"fortran_order\": False, \"descr\": \"<i2\"}", 12)));
}

TEST(NpyTest, FortranOrderIsRefusedWithAdviceUnlessItMakesNoDifference) {
  ExpectNpyRefused(FileWith(Dictionary("<f4", "(2, 3)", "True"), 24), "ascontiguousarray");
  EXPECT_OK(ParseNpyHeader("x", FileWith(Dictionary("<f4", "(6,)", "True"), 24)));
}

TEST(NpyTest, OtherTypesAreRefusedWithAdvice) {
  ExpectNpyRefused(FileWith(Dictionary(">f4", "(2,)"), 8), "newbyteorder");
  ExpectNpyRefused(FileWith(Dictionary("<c8", "(2,)"), 16), "array.astype");
  ExpectNpyRefused(FileWith(Dictionary("|b1", "(2,)"), 2), "array.astype");
  ExpectNpyRefused(FileWith(Dictionary("=f4", "(2,)"), 8), "array.astype");
  ExpectNpyRefused(FileWith(Dictionary("f", "(2,)"), 8), "array.astype");
  ExpectNpyRefused(FileWith(Dictionary("", "(2,)"), 8), "array.astype");
  ExpectNpyRefused(
      FileWith("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4), "records");
}

TEST(NpyTest, SizesThatDoNotAddUpAreRefused) {
  ExpectNpyRefused(FileWith(Dictionary("<f4", "(2, 3)"), 23), "cut off");
  ExpectNpyRefused(FileWith(Dictionary("<f4", "(2, 3)"), 25), "24 bytes, but has 25");
  ExpectNpyRefused(FileWith(Dictionary("<f8", "(4611686018427387904, 4)"), 0), "more than 1 GiB");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "(4294967296, 4294967296, 0)"), 1),
                   "more than 1 GiB");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "(99999999999999999999,)"), 0), "shape");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "(-1,)"), 0), "shape");
}

TEST(NpyTest, DamagedHeadersAreRefused) {
  ExpectNpyRefused("", "does not start");
  ExpectNpyRefused("\x93NUMPY", "does not start");
  ExpectNpyRefused(FileWith("{   ", 0), "header");
  ExpectNpyRefused(FileWith("{}  ", 0), "lacks descr");
  ExpectNpyRefused(FileWith("[]  ", 0), "no dictionary");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "(1)") + "x", 1), "goes on");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "(1 1)"), 1), "shape");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "("), 1), "shape");
  ExpectNpyRefused(FileWith(Dictionary("|u1", "(1,)", "Maybe"), 1), "fortran_order");
  ExpectNpyRefused(FileWith("{'shape': (1,), 'shape': (1,)}", 1), "shape");
  ExpectNpyRefused(FileWith("{'\n\x1b[2J': 1}", 1), "entry");
  std::string version = FileWith(Dictionary("|u1", "(1,)"), 1);
  version[6] = 9;
  ExpectNpyRefused(version, "version 9");
  std::string length = FileWith(Dictionary("|u1", "(1,)"), 1);
  length[9] = '\xff';
  ExpectNpyRefused(length, "claims");
  // A version 2 header that claims 4 GiB.
  ExpectNpyRefused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "claims");
}

TEST(NpyTest, EveryPrefixOfAFileIsRefused) {
  const ArrayType type = {DType::kI32, {2, 2}};
  const std::string file = MakeNpyHeader(type) + std::string(16, 'x');
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(ParseNpyHeader("x", file.substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace weft::cli
