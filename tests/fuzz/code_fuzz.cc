// Compiled code of any bytes (cubin, fatbin, PTX) through what reads it: whatever they are, the answer is
// what is in them or an error that the client causes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "kernels/compile/code_images.h"

namespace weft {
namespace {

void CheckCodeError(const absl::Status& status) {
  if (status.ok() || absl::IsInvalidArgument(status) || absl::IsUnimplemented(status)) return;
  std::fprintf(stderr, "broken promise: errors are the client's: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace
}  // namespace weft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto images = weft::kernels::ReadImages("fuzz", bytes);
  weft::CheckCodeError(images.status());
  if (!images.ok()) return 0;
  if (weft::kernels::ListArchitectures(*images).size() > 1000) std::abort();
  for (const weft::kernels::FatbinImage& image : *images) {
    weft::CheckCodeError(weft::kernels::ReadImage("fuzz", image).status());
  }
  return 0;
}
