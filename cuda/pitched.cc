#include "cuda/pitched.h"

#include "absl/strings/str_cat.h"
#include "cuda/status.h"

namespace weft::cuda {

CUDA_MEMCPY3D ToMemcpy3D(const BoxCopy& copy) {
  CUDA_MEMCPY3D params = {};
  params.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.srcDevice = copy.source.address;
  params.srcPitch = copy.source.pitch_bytes;
  params.srcHeight = copy.slices > 1 ? copy.source.slice_rows : copy.rows;
  params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.dstDevice = copy.destination.address;
  params.dstPitch = copy.destination.pitch_bytes;
  params.dstHeight = copy.slices > 1 ? copy.destination.slice_rows : copy.rows;
  params.WidthInBytes = copy.width_bytes;
  params.Height = copy.rows;
  params.Depth = copy.slices;
  return params;
}

absl::Status CopyBoxAsync(const StreamRef& stream, const BoxCopy& copy) {
  if (copy.width_bytes == 0 || copy.rows == 0 || copy.slices == 0) return absl::OkStatus();
  WEFT_MAKE_CURRENT(stream.context());
  const CUDA_MEMCPY3D params = ToMemcpy3D(copy);
  return WEFT_DRIVER_CALL(stream.driver(), cuMemcpy3DAsync, &params, stream.handle());
}

absl::Status FillRowsAsync(const StreamRef& stream, const FillRows& fill) {
  if (fill.width == 0 || fill.rows == 0) return absl::OkStatus();
  if (fill.rows == 1) return FillAsync(stream, fill.destination, fill.pattern, fill.width);
  WEFT_MAKE_CURRENT(stream.context());
  const Driver& driver = stream.driver();
  switch (fill.pattern.element_size) {
    case 1:
      return WEFT_DRIVER_CALL(driver, cuMemsetD2D8Async, fill.destination, fill.pitch_bytes,
                              static_cast<unsigned char>(fill.pattern.value), fill.width, fill.rows,
                              stream.handle());
    case 2:
      return WEFT_DRIVER_CALL(driver, cuMemsetD2D16Async, fill.destination, fill.pitch_bytes,
                              static_cast<unsigned short>(fill.pattern.value), fill.width,
                              fill.rows, stream.handle());
    case 4:
      return WEFT_DRIVER_CALL(driver, cuMemsetD2D32Async, fill.destination, fill.pitch_bytes,
                              fill.pattern.value, fill.width, fill.rows, stream.handle());
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a fill pattern has 1, 2 or 4 bytes, not ", fill.pattern.element_size));
  }
}

}  // namespace weft::cuda
