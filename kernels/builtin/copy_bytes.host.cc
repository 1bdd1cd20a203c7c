// The CPU twin of copy_bytes.cu.
#include <cstring>
#include <iterator>

#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

void CopyBytes(unsigned char* dst, const unsigned char* src, uint64_t bytes) {
  std::memcpy(dst, src, bytes);
}

constexpr weft_host_kernel kEntries[] = {HostEntry<&CopyBytes>("weft_copy_bytes")};

}  // namespace

HostEntries CopyBytesEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
