// The table of the host image builtin.host.so (cuda/host/image_abi.h).
#include <vector>

#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

std::vector<weft_host_kernel> AllEntries() {
  std::vector<weft_host_kernel> all;
  for (const HostEntries& part :
       {ElementwiseEntries(), ReduceEntries(), ScanEntries(), MatrixEntries(), ImageEntries(),
        HistogramEntries(), GatherEntries(), DotEntries(), LayernormEntries(), RandomEntries(),
        ArgEntries(), SpinEntries(), FlowEntries(), CompactEntries(), CopyBytesEntries()}) {
    all.insert(all.end(), part.entries, part.entries + part.count);
  }
  return all;
}

}  // namespace
}  // namespace weft::kernels

extern "C" __attribute__((visibility("default"))) const weft_host_image* weft_host_image_table(
    void) {
  static const std::vector<weft_host_kernel> kernels = weft::kernels::AllEntries();
  static const weft_host_image image = {WEFT_HOST_IMAGE_ABI, static_cast<uint32_t>(kernels.size()),
                                        kernels.data(), 0, nullptr};
  return &image;
}
