#include "cuda/device_info.h"

#include <algorithm>
#include <iterator>

namespace weft::cuda {
namespace {

struct ResidentGrids {
  int compute_major;
  int compute_minor;
  uint32_t grids;
};

// Sorted by capability; what is not listed behaves as the entry before it.
constexpr ResidentGrids kResidentGrids[] = {
    {5, 0, 32}, {5, 3, 16},  {6, 0, 128}, {6, 1, 32},
    {6, 2, 16}, {7, 0, 128}, {7, 2, 16},  {7, 5, 128},  // 128 for 8.x, 9.0, 10.x, 11.0 and 12.x too
};

constexpr uint32_t kSmallParameterBytes = 4096;
constexpr uint32_t kLargeParameterBytes = 32764;
constexpr int kLargeParameterMajor = 7;       // Volta and newer
constexpr int kLargeParameterDriver = 12010;  // CUDA 12.1

}  // namespace

std::string UuidText(const DeviceInfo& info) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = info.is_cpu ? "CPU" : "GPU";
  for (size_t i = 0; i < info.uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[info.uuid[i] >> 4];
    text += kDigits[info.uuid[i] & 0xf];
  }
  return text;
}

uint32_t MaxConcurrentKernels(int compute_major, int compute_minor) {
  const auto* const after = std::upper_bound(std::begin(kResidentGrids), std::end(kResidentGrids),
                                             ResidentGrids{compute_major, compute_minor, 0},
                                             [](const ResidentGrids& a, const ResidentGrids& b) {
                                               return a.compute_major != b.compute_major
                                                          ? a.compute_major < b.compute_major
                                                          : a.compute_minor < b.compute_minor;
                                             });
  return after == std::begin(kResidentGrids) ? 1 : std::prev(after)->grids;
}

uint32_t MaxParameterBytes(int compute_major, int driver_version) {
  return compute_major >= kLargeParameterMajor && driver_version >= kLargeParameterDriver
             ? kLargeParameterBytes
             : kSmallParameterBytes;
}

}  // namespace weft::cuda
