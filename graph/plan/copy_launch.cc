#include "graph/plan/copy_launch.h"

namespace weft::plan {
namespace {

constexpr uint64_t kBytesPerThread = 16;
constexpr uint64_t kThreads = 256;
constexpr uint64_t kMaxBlocks = 0x7fffffff;

// Buffers of the device start at multiples of 256 bytes; where a parameter of a graph lies, whoever
// runs the graph says.
bool SuitsKernel(const ir::Graph& graph, const ir::View& view) {
  const ir::Buffer& buffer = graph.buffer(view.buffer);
  return buffer.memory == ir::MemoryKind::kDevice && !buffer.is_parameter &&
         !graph.IsElsewhere(buffer) && view.range.offset % kBytesPerThread == 0;
}

}  // namespace

std::optional<kernels::PhaseLaunch> CopyLaunch(const ir::Graph& graph, const ir::CopyOp& copy,
                                               const cuda::DeviceInfo& device) {
  const uint64_t bytes = copy.src.range.size;
  if (device.is_cpu || copy.box.has_value() || bytes < kCopyKernelBytes) return std::nullopt;
  if (!SuitsKernel(graph, copy.src) || !SuitsKernel(graph, copy.dst)) return std::nullopt;
  const uint64_t threads = bytes / kBytesPerThread + 1;
  const uint64_t blocks = (threads + kThreads - 1) / kThreads;
  if (blocks > kMaxBlocks) return std::nullopt;
  kernels::PhaseLaunch launch;
  launch.symbol = "weft_copy_bytes";
  launch.grid.x = static_cast<uint32_t>(blocks);
  launch.block.x = kThreads;
  return launch;
}

}  // namespace weft::plan
