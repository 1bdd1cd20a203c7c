#include "graph/ir/texture_reader.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/data_type.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using kernels::DType;

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability": textures over
// linear memory, of every capability since 5.0.
constexpr uint64_t kMaxTexels1D = uint64_t{1} << 27;
constexpr uint64_t kMaxWidth2D = 131'072;
constexpr uint64_t kMaxHeight2D = 65'000;
constexpr uint64_t kMaxPitch2D = 2'097'120;

bool IsNarrowInteger(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kI8 || dtype == DType::kU16 || dtype == DType::kI16;
}
bool IsWideInteger(DType dtype) { return dtype == DType::kU32 || dtype == DType::kI32; }
bool IsTexelFloat(DType dtype) { return dtype == DType::kF16 || dtype == DType::kF32; }

class TextureReader {
 public:
  TextureReader(const NodePlace& node, const std::string& part, const v1::Texture& in,
                const ReadView& view, Violations& violations)
      : node_(node), part_(part), in_(in), view_(view), violations_(violations) {}

  std::optional<Texture> Read() {
    if (!ReadTexels() || !ReadExtents() || !ReadModes()) return std::nullopt;
    return out_;
  }

 private:
  bool Bad(const char* field, const std::string& why) {
    violations_.Add(BadTexture(node_, part_, field, why));
    return false;
  }

  bool ReadTexels() {
    out_.dtype = view_.dtype;
    if (in_.data_type() != v1::DATA_TYPE_UNSPECIFIED) {
      const std::optional<DType> dtype = DTypeOf(in_.data_type());
      if (!dtype.has_value()) return Bad("data_type", "is no data type");
      out_.dtype = *dtype;
    }
    if (!IsNarrowInteger(out_.dtype) && !IsWideInteger(out_.dtype) && !IsTexelFloat(out_.dtype)) {
      return Bad("data_type", absl::StrCat("is ", kernels::NameOf(out_.dtype),
                                           "; texels are u8, i8, u16, i16, u32, i32, f16 or f32"));
    }
    out_.channels = in_.channels() == 0 ? 1 : in_.channels();
    if (out_.channels != 1 && out_.channels != 2 && out_.channels != 4) {
      return Bad("channels", absl::StrCat("is ", out_.channels, "; give 1, 2 or 4"));
    }
    return true;
  }

  uint64_t TexelBytes() const { return uint64_t{kernels::SizeOf(out_.dtype)} * out_.channels; }

  bool ReadExtents() {
    out_.width = in_.width();
    out_.height = in_.height();
    const bool flat = out_.height == 0;
    const uint64_t most = flat ? kMaxTexels1D : kMaxWidth2D;
    if (out_.width == 0 || out_.width > most) {
      return Bad("width", absl::StrCat("is ", out_.width, "; give 1 to ", most, " texels"));
    }
    if (out_.height > kMaxHeight2D) {
      return Bad("height", absl::StrCat("is ", out_.height, "; at most ", kMaxHeight2D,
                                        " rows are possible"));
    }
    if (view_.view.range.offset % kTextureAlignmentBytes != 0) {
      return Bad("view", absl::StrCat("begins at byte ", view_.view.range.offset,
                                      " of its buffer; textures begin at multiples of ",
                                      kTextureAlignmentBytes));
    }
    const uint64_t row_bytes = out_.width * TexelBytes();  // below 2^32
    if (!flat && !ReadPitch(row_bytes)) return false;
    if (flat && in_.pitch_bytes() != 0) return Bad("pitch_bytes", "is of no use without rows");
    const uint64_t needed = flat ? row_bytes : (out_.height - 1) * out_.pitch_bytes + row_bytes;
    if (needed > view_.view.range.size) {
      return Bad("view", absl::StrCat("has ", view_.view.range.size,
                                      " bytes, and the texture takes ", needed));
    }
    return true;
  }

  bool ReadPitch(uint64_t row_bytes) {
    out_.pitch_bytes = in_.pitch_bytes() == 0 ? row_bytes : in_.pitch_bytes();
    if (out_.pitch_bytes >= row_bytes && out_.pitch_bytes <= kMaxPitch2D &&
        out_.pitch_bytes % kTexturePitchBytes == 0) {
      return true;
    }
    return Bad("pitch_bytes", absl::StrCat("is ", out_.pitch_bytes, "; rows of ", row_bytes,
                                           " bytes need a multiple of ", kTexturePitchBytes,
                                           " that is not less, and at most ", kMaxPitch2D));
  }

  bool ReadModes() {
    if (!v1::Texture::Address_IsValid(in_.address())) return Bad("address", "is no address mode");
    if (!v1::Texture::Filter_IsValid(in_.filter())) return Bad("filter", "is no filter");
    out_.normalized_coordinates = in_.normalized_coordinates();
    out_.normalized_values = in_.normalized_values();
    if (out_.normalized_values && !IsNarrowInteger(out_.dtype)) {
      return Bad("normalized_values", "is for integers of 8 and 16 bits alone");
    }
    out_.filter = in_.filter() == v1::Texture::FILTER_LINEAR ? Texture::Filter::kLinear
                                                             : Texture::Filter::kPoint;
    const bool is_float = IsTexelFloat(out_.dtype) || out_.normalized_values;
    if (out_.filter == Texture::Filter::kLinear && !is_float) {
      return Bad("filter", "is FILTER_LINEAR, which needs f16, f32 or normalized_values");
    }
    return out_.height == 0 ? CheckFlatModes() : ReadAddress();
  }

  // tex1Dfetch knows no modes: outside of the texture it reads zeros.
  bool CheckFlatModes() {
    if (in_.address() != v1::Texture::ADDRESS_UNSPECIFIED &&
        in_.address() != v1::Texture::ADDRESS_BORDER) {
      return Bad("address", "is for textures with rows; leave it out");
    }
    if (out_.filter == Texture::Filter::kLinear || out_.normalized_coordinates) {
      return Bad("height",
                 "is 0: a texture without rows is fetched by index, neither filtered nor "
                 "by normalized coordinates");
    }
    return true;
  }

  bool ReadAddress() {
    switch (in_.address()) {
      case v1::Texture::ADDRESS_WRAP:
        out_.address = Texture::Address::kWrap;
        break;
      case v1::Texture::ADDRESS_MIRROR:
        out_.address = Texture::Address::kMirror;
        break;
      case v1::Texture::ADDRESS_BORDER:
        out_.address = Texture::Address::kBorder;
        return true;
      default:
        return true;
    }
    return out_.normalized_coordinates ||
           Bad("address", "is WRAP or MIRROR, which need normalized_coordinates");
  }

  const NodePlace& node_;
  const std::string& part_;
  const v1::Texture& in_;
  const ReadView& view_;
  Violations& violations_;
  Texture out_;
};

}  // namespace

std::optional<Texture> ReadTexture(const NodePlace& node, const std::string& part,
                                   const v1::Texture& texture, const ReadView& view,
                                   Violations& violations) {
  return TextureReader(node, part, texture, view, violations).Read();
}

}  // namespace weft::ir
