#include "server/executor/transfer_area.h"

#include "base/byte_range.h"
#include "base/status_macros.h"
#include "server/executor/errors.h"
#include "server/executor/memory_map.h"

namespace weft::executor {

absl::StatusOr<std::unique_ptr<TransferArea>> TransferArea::Create(const cuda::Context& context,
                                                                   const MemoryMap& memory,
                                                                   transport::SharedMemory area) {
  WEFT_ASSIGN_OR_RETURN(cuda::PinnedHost pinned,
                        cuda::PinnedHost::Register(context, area.data(), area.size()));
  return std::unique_ptr<TransferArea>(
      new TransferArea(context, memory, std::move(area), std::move(pinned)));
}

absl::Status TransferArea::Check(const TransferRange& range) const {
  const ByteRange device{range.address, range.size_bytes};
  if (ByteRange{range.offset_bytes, range.size_bytes}.within(area_.size()) &&
      memory_.Contains(device)) {
    return absl::OkStatus();
  }
  return BadTransferError(device, range.offset_bytes, area_.size());
}

absl::Status TransferArea::ToDevice(const TransferRange& range) const {
  WEFT_RETURN_IF_ERROR(Check(range));
  return cuda::CopyToDevice(context_, range.address, area_.data() + range.offset_bytes,
                            range.size_bytes);
}

absl::Status TransferArea::FromDevice(const TransferRange& range) const {
  WEFT_RETURN_IF_ERROR(Check(range));
  return cuda::CopyToHost(context_, area_.data() + range.offset_bytes, range.address,
                          range.size_bytes);
}

}  // namespace weft::executor
