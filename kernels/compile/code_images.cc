#include "kernels/compile/code_images.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "kernels/compile/cubin_info.h"
#include "kernels/compile/errors.h"
#include "kernels/compile/ptx_info.h"

namespace weft::kernels {
namespace {

absl::StatusOr<FatbinImage> PtxImage(absl::string_view name, absl::string_view text) {
  WEFT_ASSIGN_OR_RETURN(const PtxHeader header, ReadPtxHeader(name, text));
  FatbinImage image;
  image.kind = FatbinImage::Kind::kPtx;
  image.ptx_major = header.version_major;
  image.ptx_minor = header.version_minor;
  image.payload = text;
  absl::string_view target = header.target;
  absl::ConsumePrefix(&target, "sm_");
  for (const absl::string_view suffix : {"a", "f"}) {
    if (absl::ConsumeSuffix(&target, suffix)) image.suffix = std::string(suffix);
  }
  if (!absl::SimpleAtoi(target, &image.architecture)) {
    return BadImageError(name, "PTX",
                         absl::StrCat("its .target is \"", absl::CHexEscape(header.target), "\""));
  }
  return image;
}

std::string Describe(const FatbinImage& image) {
  std::string text = image.Architecture();
  if (image.kind == FatbinImage::Kind::kPtx) {
    absl::StrAppend(&text, " (PTX ", image.ptx_major, ".", image.ptx_minor, ")");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<FatbinImage>> ReadImages(absl::string_view name,
                                                    absl::string_view bytes) {
  if (absl::StartsWith(bytes, "\x50\xed\x55\xba")) return ReadFatbin(name, bytes);
  FatbinImage image;
  if (absl::StartsWith(bytes, "\177ELF")) {
    WEFT_ASSIGN_OR_RETURN(image.architecture, CubinArchitecture(name, bytes));
    image.kind = FatbinImage::Kind::kMachineCode;
    image.payload = bytes;
  } else {
    WEFT_ASSIGN_OR_RETURN(image, PtxImage(name, bytes));
  }
  return std::vector<FatbinImage>{image};
}

absl::StatusOr<CodeInfo> ReadImage(absl::string_view name, const FatbinImage& image) {
  if (image.compressed) return CompressedImageError(name, image.Architecture());
  switch (image.kind) {
    case FatbinImage::Kind::kMachineCode: {
      WEFT_ASSIGN_OR_RETURN(CodeInfo info, ReadCubin(name, image.payload));
      info.architecture = image.Architecture();  // the file itself has no suffix
      return info;
    }
    case FatbinImage::Kind::kPtx:
      // In a fatbin the text is padded with zeros.
      return ReadPtx(name, image.payload.substr(0, image.payload.find('\0')));
    case FatbinImage::Kind::kOther:
      break;
  }
  return BadImageError(name, "fatbin", "it has an image that is neither PTX nor machine code");
}

std::string ListArchitectures(absl::Span<const FatbinImage> images) {
  constexpr size_t kMaxListed = 16;
  std::string text;
  const size_t listed = std::min(images.size(), kMaxListed);
  for (size_t i = 0; i < listed; ++i) {
    const char* const separator = i == 0 ? "" : i + 1 < images.size() ? ", " : " and ";
    absl::StrAppend(&text, separator, Describe(images[i]));
  }
  if (listed < images.size()) absl::StrAppend(&text, " and ", images.size() - listed, " more");
  return text.empty() ? "nothing" : text;
}

}  // namespace weft::kernels
