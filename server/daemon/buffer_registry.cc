#include "server/daemon/buffer_registry.h"

#include <algorithm>
#include <limits>

#include "base/byte_range.h"
#include "base/clock.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "server/daemon/errors.h"
#include "server/daemon/id_text.h"

namespace weft::daemon {
namespace {

// Bytes that the device takes for `size_bytes`; saturates, so that no sum with it wraps.
uint64_t RoundedUp(uint64_t size_bytes, uint64_t granularity) {
  const uint64_t whole = size_bytes / granularity + (size_bytes % granularity != 0 ? 1 : 0);
  return whole > std::numeric_limits<uint64_t>::max() / 2 / granularity
             ? std::numeric_limits<uint64_t>::max() / 2
             : whole * granularity;
}

}  // namespace

void BufferRegistry::SetDevice(uint32_t device, uint64_t total_memory_bytes,
                               uint64_t granularity_bytes) {
  absl::MutexLock lock(&mutex_);
  Device& d = devices_[device];
  d.limit_bytes =
      limits_.max_device_bytes != 0 ? limits_.max_device_bytes : total_memory_bytes / 10 * 9;
  d.granularity_bytes = std::max<uint64_t>(granularity_bytes, 1);
}

absl::StatusOr<BufferId> BufferRegistry::Reserve(const Caller& caller, BufferSpec spec) {
  absl::MutexLock lock(&mutex_);
  if (records_.size() >= limits_.max_buffers) return TooManyBuffersError(limits_.max_buffers);
  if (!spec.name.empty() && names_.contains(spec.name)) return BufferExistsError(spec.name);
  Device& device = devices_[spec.device];
  const uint64_t bytes = RoundedUp(spec.size_bytes, device.granularity_bytes);
  if (bytes > device.limit_bytes || device.used_bytes > device.limit_bytes - bytes) {
    return BufferQuotaError(bytes, device.used_bytes, device.limit_bytes);
  }
  device.used_bytes += bytes;
  const BufferId id(++last_id_);
  if (!spec.name.empty()) names_[spec.name] = id;
  Record& record = records_[id];
  record.info.id = id;
  record.info.spec = std::move(spec);
  record.info.owner = caller.uid;
  record.info.created = WallTimeForDisplay();
  record.session = caller.session;
  record.quota_bytes = bytes;
  return id;
}

absl::StatusOr<BufferSnapshot> BufferRegistry::Commit(BufferId id, DeviceMemory memory,
                                                      uint64_t epoch) {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it == records_.end() || it->second.state != Record::State::kReserved) {
    return WEFT_BUG("Commit of a buffer that is not reserved");
  }
  Record& record = it->second;
  Device& device = devices_[record.info.spec.device];
  if (device.epoch != epoch) {
    const uint32_t ordinal = record.info.spec.device;
    device.used_bytes -= record.quota_bytes;
    EraseLocked(it);
    return ExecutorLostError(ordinal, "it was replaced while the buffer was allocated");
  }
  device.used_bytes += memory.allocated_bytes - record.quota_bytes;
  record.quota_bytes = memory.allocated_bytes;
  record.info.address = memory.address;
  record.info.allocated_bytes = memory.allocated_bytes;
  record.fd = std::make_shared<const UniqueFd>(std::move(memory.fd));
  record.state = Record::State::kLive;
  return record.info;
}

void BufferRegistry::Abandon(BufferId id) {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it == records_.end()) return;
  devices_[it->second.info.spec.device].used_bytes -= it->second.quota_bytes;
  EraseLocked(it);
}

absl::StatusOr<BufferRegistry::Records::const_iterator> BufferRegistry::FindLocked(
    const Caller& caller, absl::string_view reference) const {
  auto it = records_.end();
  if (const std::optional<BufferId> id = ParseBufferId(reference)) {
    it = records_.find(*id);
  } else if (const auto named = names_.find(reference); named != names_.end()) {
    it = records_.find(named->second);
  }
  // A buffer that is being made or going away is not there for anyone.
  if (it == records_.end() || it->second.state != Record::State::kLive) {
    return UnknownBufferError(reference);
  }
  if (!caller.MayUse(it->second.info.owner)) return NotYourBufferError(reference);
  return it;
}

absl::StatusOr<BufferSnapshot> BufferRegistry::Find(const Caller& caller,
                                                    absl::string_view reference) const {
  absl::MutexLock lock(&mutex_);
  WEFT_ASSIGN_OR_RETURN(const auto it, FindLocked(caller, reference));
  return it->second.info;
}

BufferPage BufferRegistry::List(const Caller& caller, BufferId after, uint32_t limit) const {
  BufferPage page;
  absl::MutexLock lock(&mutex_);
  for (auto it = records_.upper_bound(after); it != records_.end(); ++it) {
    const Record& record = it->second;
    if (record.state != Record::State::kLive || !caller.MayUse(record.info.owner)) continue;
    if (page.items.size() == limit) {
      page.next = page.items.back().id;
      break;
    }
    page.items.push_back(record.info);
  }
  return page;
}

absl::Status BufferRegistry::AddUses(absl::Span<const BufferId> ids) {
  if (ids.empty()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  for (BufferId id : ids) {
    const auto it = records_.find(id);
    if (it == records_.end() || it->second.state != Record::State::kLive) {
      return UnknownBufferError(FormatBufferId(id));
    }
  }
  for (BufferId id : ids) ++records_[id].info.uses;
  return absl::OkStatus();
}

std::vector<RemovedBuffer> BufferRegistry::ReleaseUses(absl::Span<const BufferId> ids) {
  std::vector<RemovedBuffer> removed;
  if (ids.empty()) return removed;
  absl::MutexLock lock(&mutex_);
  for (BufferId id : ids) {
    const auto it = records_.find(id);
    if (it == records_.end()) continue;
    Record& record = it->second;
    if (--record.info.uses == 0 && record.state == Record::State::kDoomed) {
      removed.push_back(EraseLocked(it));
    }
  }
  return removed;
}

absl::StatusOr<RemovedBuffer> BufferRegistry::Remove(const Caller& caller,
                                                     absl::string_view reference) {
  absl::MutexLock lock(&mutex_);
  WEFT_ASSIGN_OR_RETURN(const auto it, FindLocked(caller, reference));
  if (it->second.info.uses > 0) return BufferInUseError(reference, it->second.info.uses);
  return EraseLocked(it);
}

std::vector<RemovedBuffer> BufferRegistry::EndSession(SessionId session) {
  std::vector<RemovedBuffer> removed;
  absl::MutexLock lock(&mutex_);
  for (auto it = records_.begin(); it != records_.end();) {
    const auto current = it++;
    Record& record = current->second;
    if (record.session != session || !record.info.spec.name.empty()) continue;
    if (record.state != Record::State::kLive) continue;
    record.state = Record::State::kDoomed;
    if (record.info.uses == 0) removed.push_back(EraseLocked(current));
  }
  return removed;
}

RemovedBuffer BufferRegistry::EraseLocked(Records::const_iterator it) {
  const Record& record = it->second;
  RemovedBuffer removed{record.info.id, record.info.spec.device, record.quota_bytes, record.peers};
  if (!record.info.spec.name.empty()) names_.erase(record.info.spec.name);
  records_.erase(it);
  return removed;
}

void BufferRegistry::ReleaseQuota(const RemovedBuffer& removed) {
  absl::MutexLock lock(&mutex_);
  devices_[removed.device].used_bytes -= removed.quota_bytes;
}

uint64_t BufferRegistry::Epoch(uint32_t device) const {
  absl::MutexLock lock(&mutex_);
  const auto it = devices_.find(device);
  return it == devices_.end() ? 1 : it->second.epoch;
}

std::vector<ImportEntry> BufferRegistry::BeginImport(uint32_t device) {
  absl::MutexLock lock(&mutex_);
  ++devices_[device].epoch;
  std::vector<ImportEntry> entries;
  for (const auto& [id, record] : records_) {
    if (record.info.spec.device != device || record.state == Record::State::kReserved) continue;
    entries.push_back({id, device, record.info.address, record.info.allocated_bytes, record.fd});
  }
  return entries;
}

absl::StatusOr<ImportEntry> BufferRegistry::ImportForPeer(BufferId id, uint32_t peer) {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it == records_.end() || it->second.state == Record::State::kReserved) {
    return UnknownBufferError(FormatBufferId(id));
  }
  Record& record = it->second;
  if (std::find(record.peers.begin(), record.peers.end(), peer) == record.peers.end()) {
    record.peers.push_back(peer);
  }
  return ImportEntry{id, record.info.spec.device, record.info.address, record.info.allocated_bytes,
                     record.fd};
}

bool BufferRegistry::Contains(BufferId id) const {
  absl::MutexLock lock(&mutex_);
  return records_.contains(id);
}

BufferRegistry::Totals BufferRegistry::totals() const {
  absl::MutexLock lock(&mutex_);
  Totals totals;
  for (const auto& [ordinal, device] : devices_) totals.limit_bytes += device.limit_bytes;
  for (const auto& [id, record] : records_) {
    if (record.state == Record::State::kReserved) continue;
    ++totals.count;
    totals.allocated_bytes += record.info.allocated_bytes;
  }
  return totals;
}

}  // namespace weft::daemon
