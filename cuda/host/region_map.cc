#include "cuda/host/region_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <utility>

namespace weft::hostcuda {
namespace {

bool Allows(Access granted, Access needed) {
  return (static_cast<uint8_t>(granted) & static_cast<uint8_t>(needed)) ==
         static_cast<uint8_t>(needed);
}

uint64_t* WordAt(uint64_t address) { return reinterpret_cast<uint64_t*>(address); }

}  // namespace

bool RegionMap::Insert(Region region) {
  MutexLock lock(mu_);
  const auto next = regions_.lower_bound(region.base);
  if (next != regions_.end() && next->first - region.base < region.size) return false;
  if (next != regions_.begin()) {
    const Region& previous = std::prev(next)->second;
    if (region.base - previous.base < previous.size) return false;
  }
  const uint64_t base = region.base;
  regions_.emplace_hint(next, base, std::move(region));
  return true;
}

std::optional<Region> RegionMap::Remove(uint64_t base, RegionKind kind) {
  MutexLock lock(mu_);
  const auto found = regions_.find(base);
  if (found == regions_.end() || found->second.kind != kind) return std::nullopt;
  Region region = std::move(found->second);
  regions_.erase(found);
  return region;
}

std::vector<Region> RegionMap::RemoveOwnedBy(const void* owner) {
  std::vector<Region> removed;
  MutexLock lock(mu_);
  for (auto it = regions_.begin(); it != regions_.end();) {
    if (it->second.owner == owner) {
      removed.push_back(std::move(it->second));
      it = regions_.erase(it);
    } else {
      ++it;
    }
  }
  return removed;
}

RegionMap::Map::const_iterator RegionMap::Containing(uint64_t address) const {
  auto it = regions_.upper_bound(address);
  if (it == regions_.begin()) return regions_.end();
  --it;
  return address - it->first < it->second.size ? it : regions_.end();
}

std::optional<Region> RegionMap::Find(uint64_t address) const {
  MutexLock lock(mu_);
  const auto it = Containing(address);
  if (it == regions_.end()) return std::nullopt;
  return it->second;
}

std::vector<Region> RegionMap::Cover(uint64_t base, uint64_t size, RegionKind kind) const {
  std::vector<Region> cover;
  MutexLock lock(mu_);
  uint64_t next = base;
  uint64_t left = size;
  for (auto it = regions_.find(base); it != regions_.end() && left > 0; ++it) {
    const Region& region = it->second;
    if (region.base != next || region.size > left || region.kind != kind) break;
    cover.push_back(region);
    next += region.size;
    left -= region.size;
  }
  if (left != 0) cover.clear();
  return cover;
}

void RegionMap::SetAccess(uint64_t base, Access access) {
  MutexLock lock(mu_);
  const auto found = regions_.find(base);
  if (found != regions_.end()) found->second.access = access;
}

std::optional<uint64_t> RegionMap::OpenAgain(MemoryBlock::FileId file) {
  MutexLock lock(mu_);
  for (auto& [base, region] : regions_) {
    if (region.kind == RegionKind::kIpc && region.block->file_id() == file) {
      ++region.opened;
      return base;
    }
  }
  return std::nullopt;
}

RegionMap::Closed RegionMap::CloseOnce(uint64_t base, Region* last) {
  MutexLock lock(mu_);
  const auto found = regions_.find(base);
  if (found == regions_.end() || found->second.kind != RegionKind::kIpc) return Closed::kNotOpen;
  if (--found->second.opened > 0) return Closed::kStillOpen;
  *last = std::move(found->second);
  regions_.erase(found);
  return Closed::kLast;
}

void RegionMap::AddReservation(uint64_t base, uint64_t size) {
  MutexLock lock(mu_);
  reservations_[base] = size;
}

void RegionMap::RemoveReservation(uint64_t base) {
  MutexLock lock(mu_);
  reservations_.erase(base);
}

RangeState RegionMap::Check(uint64_t address, uint64_t size, Access needed) const {
  MutexLock lock(mu_);
  return CheckLocked(address, size, needed);
}

RangeState RegionMap::CheckLocked(uint64_t address, uint64_t size, Access needed) const {
  auto it = Containing(address);
  if (it == regions_.end()) {
    const auto reservation = reservations_.upper_bound(address);
    if (reservation == reservations_.begin()) return RangeState::kUnknown;
    const auto& [base, reserved] = *std::prev(reservation);
    return address - base < reserved ? RangeState::kInvalid : RangeState::kUnknown;
  }
  const RangeState state = it->second.on_device() ? RangeState::kDevice : RangeState::kHost;
  const bool joins = it->second.kind == RegionKind::kMapping;
  uint64_t left = size;
  while (true) {
    const Region& region = it->second;
    if (!Allows(region.access, needed)) return RangeState::kInvalid;
    const uint64_t here = region.size - (address - region.base);
    if (left <= here) return state;
    left -= here;
    address += here;
    ++it;
    if (!joins || it == regions_.end() || it->first != address ||
        it->second.kind != RegionKind::kMapping) {
      return RangeState::kInvalid;
    }
  }
}

std::optional<uint64_t> RegionMap::Load64(uint64_t address) const {
  MutexLock lock(mu_);
  const RangeState state = CheckLocked(address, sizeof(uint64_t), Access::kRead);
  if (state != RangeState::kDevice && state != RangeState::kHost) return std::nullopt;
  // Acquire: what the writer of the value wrote before it is visible to what waits for it.
  return __atomic_load_n(WordAt(address), __ATOMIC_ACQUIRE);
}

bool RegionMap::Store64(uint64_t address, uint64_t value) const {
  MutexLock lock(mu_);
  const RangeState state = CheckLocked(address, sizeof(uint64_t), Access::kReadWrite);
  if (state != RangeState::kDevice && state != RangeState::kHost) return false;
  __atomic_store_n(WordAt(address), value, __ATOMIC_RELEASE);
  return true;
}

bool IsMappedHostMemory(uint64_t address, uint64_t size) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (size > std::numeric_limits<uint64_t>::max() - address) return false;
  const uint64_t first = address & ~(page - 1);
  // MS_ASYNC does no more than look whether the range is mapped: ENOMEM when not.
  return ::msync(reinterpret_cast<void*>(first), address + size - first, MS_ASYNC) == 0;
}

}  // namespace weft::hostcuda
