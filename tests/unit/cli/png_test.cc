#include "client/cli/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/testing/status_matchers.h"

namespace weft::cli {
namespace {

using kernels::DType;
using ::testing::AllOf;
using ::testing::HasSubstr;
using weft::testing::StatusIs;

constexpr char kSignature[] = "\x89PNG\r\n\x1a\n";

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

std::string Chunk(const std::string& type, const std::string& data) {
  uint32_t crc = 0xffffffffU;
  for (const char c : type + data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? 0xedb88320U ^ (crc >> 1) : crc >> 1;
  }
  return BigEndian(static_cast<uint32_t>(data.size())) + type + data + BigEndian(~crc);
}

std::string Header(uint32_t width, uint32_t height, char depth = 8, char color = 0) {
  return Chunk("IHDR", BigEndian(width) + BigEndian(height) + std::string({depth, color, 0, 0, 0}));
}

// zlib's format with one stored block, and no checksum (the decoder asks for none).
std::string Stored(const std::string& bytes) {
  const auto size = static_cast<uint16_t>(bytes.size());
  std::string block("\x78\x01\x01", 3);
  for (const uint16_t word : {size, static_cast<uint16_t>(~size)}) {
    block.push_back(static_cast<char>(word & 0xff));
    block.push_back(static_cast<char>(word >> 8));
  }
  return block + bytes + std::string(4, '\0');
}

std::string Png(const std::string& chunks) {
  return std::string(kSignature, 8) + chunks + Chunk("IEND", "");
}

void ExpectPngRefused(const std::string& file, const std::string& text) {
  EXPECT_THAT(DecodePng("x.png", file), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 AllOf(HasSubstr("x.png: "), HasSubstr(text))));
}

std::string Pixels(size_t count) {
  std::string pixels;
  for (size_t i = 0; i < count; ++i) pixels.push_back(static_cast<char>(i * 37));
  return pixels;
}

TEST(PngTest, GrayAndRgbComeBackAsTheyWereWritten) {
  for (const ArrayType& type : {ArrayType{DType::kU8, {5, 7}}, ArrayType{DType::kU8, {4, 3, 3}},
                                ArrayType{DType::kU8, {1, 1}}}) {
    const std::string pixels = Pixels(*BytesOf(type));
    ASSERT_OK(CheckPngType("x.png", type));
    ASSERT_OK_AND_ASSIGN(const std::string file, EncodePng("x.png", type, pixels));
    ASSERT_OK_AND_ASSIGN(const Array array, DecodePng("x.png", file));
    EXPECT_EQ(array.type, type);
    EXPECT_EQ(array.bytes, pixels);
  }
}

TEST(PngTest, ReadsStoredPixels) {
  ASSERT_OK_AND_ASSIGN(
      const Array array,
      DecodePng("x.png", Png(Header(2, 2) + Chunk("IDAT", Stored(std::string("\0ab\0cd", 6))))));
  EXPECT_EQ(array.bytes, "abcd");
}

TEST(PngTest, OtherKindsAreRefusedWithAdvice) {
  const std::string pixels = Chunk("IDAT", Stored("\0a"));
  ExpectPngRefused(Png(Header(1, 1, 8, 3) + pixels), "palette");
  ExpectPngRefused(Png(Header(1, 1, 8, 6) + pixels), "alpha");
  ExpectPngRefused(Png(Header(1, 1, 8, 4) + pixels), "alpha");
  ExpectPngRefused(Png(Header(1, 1, 16, 0) + pixels), "16 bits");
  ExpectPngRefused(Png(Header(1, 1, 1, 0) + pixels), "convert");
  ExpectPngRefused(Png(Header(1, 1, 8, 9) + pixels), "unknown kind");
}

TEST(PngTest, SizesThatASmallFileClaimsAreRefusedBeforeMemoryIsTaken) {
  const std::string pixels = Chunk("IDAT", Stored("\0a"));
  ExpectPngRefused(Png(Header(0xffffffff, 0xffffffff) + pixels), "more than");
  ExpectPngRefused(Png(Header(20000, 20000) + pixels), "more than");
  ExpectPngRefused(Png(Header(0, 1) + pixels), "no pixels");
  ExpectPngRefused(Png(Header(16000, 16000) + pixels), "not a readable PNG");  // too few pixels
}

TEST(PngTest, DamageIsRefused) {
  ExpectPngRefused("", "does not start");
  ExpectPngRefused("GIF89a", "does not start");
  ExpectPngRefused(Png(""), "does not start with a header");
  ExpectPngRefused(Png(Header(1, 1)), "no pixels");
  ExpectPngRefused(Png(Header(1, 1) + Chunk("IDAT", "garbage")), "not a readable PNG");
  ExpectPngRefused(Png(Chunk("CgBI", "abcd") + Header(1, 1)), "does not start with a header");
  std::string wrong_checksum = Png(Header(1, 1) + Chunk("IDAT", Stored(std::string("\0a", 2))));
  wrong_checksum[wrong_checksum.size() - 20] ^= 1;
  ExpectPngRefused(wrong_checksum, "checksum");
  std::string endless = std::string(kSignature, 8) + Header(1, 1) + BigEndian(0xfffffff0) + "IDAT";
  ExpectPngRefused(endless + std::string(16, 'x'), "cut off");
}

TEST(PngTest, EveryPrefixOfAFileIsRefused) {
  ASSERT_OK_AND_ASSIGN(const std::string file,
                       EncodePng("x.png", {DType::kU8, {4, 4}}, Pixels(16)));
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(DecodePng("x.png", file.substr(0, size)).ok()) << size;
  }
}

TEST(PngTest, EveryFlippedBitIsRefused) {
  ASSERT_OK_AND_ASSIGN(std::string file, EncodePng("x.png", {DType::kU8, {2, 2}}, Pixels(4)));
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << (bit % 8));
    file[bit / 8] ^= mask;
    EXPECT_FALSE(DecodePng("x.png", file).ok()) << bit;
    file[bit / 8] ^= mask;
  }
}

TEST(PngTest, TypesThatItCannotHoldAreRefusedWithAdvice) {
  for (const ArrayType& type : {ArrayType{DType::kF32, {2, 2}}, ArrayType{DType::kU8, {4}},
                                ArrayType{DType::kU8, {2, 2, 4}}, ArrayType{DType::kU8, {0, 2}}}) {
    EXPECT_THAT(CheckPngType("x.png", type),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".npy")));
  }
}

}  // namespace
}  // namespace weft::cli
