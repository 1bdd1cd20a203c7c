#include "cuda/host/memory_actions.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/host/device_attributes.h"
#include "cuda/host/host_pointer.h"
#include "cuda/host/thread_state.h"

namespace weft::hostcuda {
namespace {

// Larger than any object of a process.
constexpr uint64_t kMaxExtent = uint64_t{1} << 47;

// A range that an action touches, as it was found when the action was made.
struct Span {
  uint64_t address = 0;
  uint64_t size = 0;
  Access access = Access::kRead;
  RangeState state = RangeState::kUnknown;
};

bool FindSpan(const RegionMap& regions, CopyEnd end, Span* span) {
  span->address = end.address;
  if (end.address == 0) return false;
  span->state = regions.Check(end.address, span->size, span->access);
  if (span->state == RangeState::kInvalid) return false;
  if (span->state != RangeState::kUnknown) return true;
  return end.side != Side::kDevice && IsMappedHostMemory(end.address, span->size);
}

// False when known memory is no longer what it was. Pageable host memory is the caller's affair.
bool StillThere(const RegionMap& regions, const Span& span) {
  return span.size == 0 || span.state == RangeState::kUnknown ||
         regions.Check(span.address, span.size, span.access) == span.state;
}

// A box of bytes: `depth` slices of `height` rows of `width` bytes.
struct Box {
  uint64_t width, height, depth;
  bool flat() const { return height <= 1 && depth <= 1; }
};

// One side of a copied box.
struct Plane {
  uint64_t pitch;  // bytes from row to row
  uint64_t slice;  // bytes from slice to slice
  Span span;
};

class Copy final : public Action {
 public:
  Copy(const Box& box, const Plane& dst, const Plane& src) : box_(box), dst_(dst), src_(src) {}

  Outcome Run(const ActionEnvironment& environment) const override {
    if (!StillThere(environment.regions, dst_.span) ||
        !StillThere(environment.regions, src_.span)) {
      return {CUDA_ERROR_ILLEGAL_ADDRESS, false};
    }
    for (uint64_t z = 0; z < box_.depth; ++z) {
      for (uint64_t y = 0; y < box_.height; ++y) {
        CopyRow(dst_.span.address + z * dst_.slice + y * dst_.pitch,
                src_.span.address + z * src_.slice + y * src_.pitch);
      }
    }
    return {};
  }

  ExchangeRule exchange_rule() const override {
    ExchangeRule rule{box_.flat(), {KindOf(dst_), KindOf(src_)}};
    if (!box_.flat())
      rule.fixed = {KindOf(dst_), KindOf(src_), box_.width, box_.height, box_.depth};
    return rule;
  }

 private:
  static uint64_t KindOf(const Plane& plane) {
    return plane.span.state == RangeState::kDevice ? 1 : 0;
  }
  // A word is copied whole, as a GPU does it: whoever polls a semaphore copies it while it is written,
  // and sees what its writer wrote before.
  void CopyRow(uint64_t dst, uint64_t src) const {
    if (box_.width == sizeof(uint64_t) && (dst | src) % sizeof(uint64_t) == 0) {
      __atomic_store_n(static_cast<uint64_t*>(HostPointer(dst)),
                       __atomic_load_n(static_cast<uint64_t*>(HostPointer(src)), __ATOMIC_ACQUIRE),
                       __ATOMIC_RELEASE);
      return;
    }
    std::memmove(HostPointer(dst), HostPointer(src), box_.width);
  }
  const Box box_;
  const Plane dst_, src_;
};

class StagedCopy final : public Action {
 public:
  StagedCopy(const Span& dst, const void* bytes) : dst_(dst), bytes_(dst.size) {
    std::memcpy(bytes_.data(), bytes, dst.size);
  }
  Outcome Run(const ActionEnvironment& environment) const override {
    if (!StillThere(environment.regions, dst_)) return {CUDA_ERROR_ILLEGAL_ADDRESS, false};
    std::memcpy(HostPointer(dst_.address), bytes_.data(), bytes_.size());
    return {};
  }

 private:
  const Span dst_;
  std::vector<unsigned char> bytes_;
};

class Fill final : public Action {
 public:
  Fill(const CUDA_MEMSET_NODE_PARAMS& fill, const Span& span) : fill_(fill), span_(span) {}

  Outcome Run(const ActionEnvironment& environment) const override {
    if (!StillThere(environment.regions, span_)) return {CUDA_ERROR_ILLEGAL_ADDRESS, false};
    for (size_t y = 0; y < fill_.height; ++y) {
      const uint64_t row = fill_.dst + y * (fill_.height > 1 ? fill_.pitch : 0);
      if (fill_.elementSize == 1) FillRow<uint8_t>(row);
      if (fill_.elementSize == 2) FillRow<uint16_t>(row);
      if (fill_.elementSize == 4) FillRow<uint32_t>(row);
    }
    return {};
  }

  ExchangeRule exchange_rule() const override {
    if (fill_.height == 1) return {};
    return {false, {fill_.width, fill_.height, fill_.pitch, fill_.elementSize}};
  }

 private:
  template <typename T>
  void FillRow(uint64_t row) const {
    std::fill_n(reinterpret_cast<T*>(row), fill_.width, static_cast<T>(fill_.value));
  }
  const CUDA_MEMSET_NODE_PARAMS fill_;
  const Span span_;
};

class Prefetch final : public Action {
 public:
  Prefetch(uint64_t address, uint64_t size) : address_(address), size_(size) {}
  Outcome Run(const ActionEnvironment& environment) const override {
    const bool is_there = IsManaged(environment.regions, address_, size_);
    return {is_there ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS, false};
  }

 private:
  const uint64_t address_, size_;
};

class ValueWrite final : public Action {
 public:
  ValueWrite(uint64_t address, uint64_t value) : address_(address), value_(value) {}
  Outcome Run(const ActionEnvironment& environment) const override {
    const bool written = environment.regions.Store64(address_, value_);
    return {written ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS, false};
  }

 private:
  const uint64_t address_, value_;
};

class HostCall final : public Action {
 public:
  HostCall(CUhostFn function, void* user_data) : function_(function), user_data_(user_data) {}
  Outcome Run(const ActionEnvironment& /*environment*/) const override {
    ThreadState& thread = ThreadState::Get();
    thread.in_host_function = true;
    function_(user_data_);
    thread.in_host_function = false;
    return {};
  }

 private:
  const CUhostFn function_;
  void* const user_data_;
};

// One side of a CUDA_MEMCPY3D, as its fields give it.
struct Operand {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  uint64_t x, y, z, lod, pitch, rows;
};

bool ResolveEnd(const Operand& operand, CopyEnd* end) {
  switch (operand.type) {
    case CU_MEMORYTYPE_HOST:
      *end = {reinterpret_cast<uint64_t>(operand.host), Side::kHost};
      return true;
    case CU_MEMORYTYPE_DEVICE:
      *end = {operand.device, Side::kDevice};
      return true;
    case CU_MEMORYTYPE_UNIFIED:
      *end = {operand.device, Side::kUnified};
      return true;
    default:
      return false;
  }
}

// sum += a * b; false on overflow.
bool AddProduct(uint64_t a, uint64_t b, uint64_t* sum) {
  uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

// Checks one side against the box, and finds its first byte and its extent.
bool PlaceOperand(const RegionMap& regions, const Box& box, Operand operand, Plane* plane) {
  CopyEnd end;
  if (operand.lod != 0 || !ResolveEnd(operand, &end)) return false;
  if (operand.x > kMaxExtent || operand.y > kMaxExtent || operand.z > kMaxExtent) return false;
  // Where there is one row (slice), the pitch (height) says nothing and may be left out.
  if (operand.pitch == 0 && box.flat() && operand.y == 0) operand.pitch = operand.x + box.width;
  if (operand.rows == 0 && box.depth == 1 && operand.z == 0) operand.rows = operand.y + box.height;
  if (operand.pitch < operand.x + box.width) return false;
  if (!box.flat() && operand.pitch > kMaxPitch) return false;
  if (box.depth > 1 && operand.rows < operand.y + box.height) return false;
  plane->pitch = operand.pitch;
  if (__builtin_mul_overflow(operand.pitch, operand.rows, &plane->slice)) return false;
  uint64_t& size = plane->span.size;
  size = box.width;
  return AddProduct(operand.x, 1, &end.address) &&
         AddProduct(operand.y, plane->pitch, &end.address) &&
         AddProduct(operand.z, plane->slice, &end.address) &&
         AddProduct(box.height - 1, plane->pitch, &size) &&
         AddProduct(box.depth - 1, plane->slice, &size) && FindSpan(regions, end, &plane->span);
}

Plane FlatPlane(uint64_t size, Access access) { return Plane{size, size, {0, size, access}}; }

}  // namespace

CUresult MakeCopy(const RegionMap& regions, CopyEnd dst, CopyEnd src, uint64_t size,
                  ActionPtr* action) {
  if (size > kMaxExtent) return CUDA_ERROR_INVALID_VALUE;
  Plane to = FlatPlane(size, Access::kReadWrite);
  Plane from = FlatPlane(size, Access::kRead);
  const bool found = FindSpan(regions, dst, &to.span) && FindSpan(regions, src, &from.span);
  if (size > 0 && !found) return CUDA_ERROR_INVALID_VALUE;
  *action = std::make_shared<Copy>(Box{size, uint64_t{size > 0}, 1}, to, from);
  return CUDA_SUCCESS;
}

CUresult MakeStagedCopy(const RegionMap& regions, CopyEnd dst, CopyEnd src, uint64_t size,
                        ActionPtr* action) {
  Span to{0, size, Access::kReadWrite};
  Span from{0, size, Access::kRead};
  if (!FindSpan(regions, dst, &to) || !FindSpan(regions, src, &from)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *action = std::make_shared<StagedCopy>(to, HostPointer(src.address));
  return CUDA_SUCCESS;
}

CUresult MakeCopy3D(const RegionMap& regions, const CUDA_MEMCPY3D& copy, ActionPtr* action) {
  const Box box{copy.WidthInBytes, copy.Height, copy.Depth};
  if (box.width == 0 || box.height == 0 || box.depth == 0) return CUDA_ERROR_INVALID_VALUE;
  if (box.width > kMaxExtent || box.height > kMaxExtent || box.depth > kMaxExtent) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Operand to{copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes, copy.dstY,
                   copy.dstZ,          copy.dstLOD,  copy.dstPitch,  copy.dstHeight};
  const Operand from{copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes, copy.srcY,
                     copy.srcZ,          copy.srcLOD,  copy.srcPitch,  copy.srcHeight};
  Plane dst = FlatPlane(0, Access::kReadWrite);
  Plane src = FlatPlane(0, Access::kRead);
  if (!PlaceOperand(regions, box, to, &dst) || !PlaceOperand(regions, box, from, &src)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *action = std::make_shared<Copy>(box, dst, src);
  return CUDA_SUCCESS;
}

CUresult MakeFill(const RegionMap& regions, const CUDA_MEMSET_NODE_PARAMS& fill,
                  ActionPtr* action) {
  const uint64_t element = fill.elementSize;
  if (element != 1 && element != 2 && element != 4) return CUDA_ERROR_INVALID_VALUE;
  if (fill.width > kMaxExtent || fill.height > kMaxExtent) return CUDA_ERROR_INVALID_VALUE;
  const bool rows_apart = fill.height > 1;
  if (fill.dst % element != 0) return CUDA_ERROR_INVALID_VALUE;
  if (rows_apart && (fill.pitch % element != 0 || fill.pitch < fill.width * element)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Span span{0, fill.width * element, Access::kReadWrite};
  if (fill.width > 0 && fill.height > 0) {
    if (rows_apart && !AddProduct(fill.height - 1, fill.pitch, &span.size)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!FindSpan(regions, {fill.dst, Side::kDevice}, &span)) return CUDA_ERROR_INVALID_VALUE;
  }
  *action = std::make_shared<Fill>(fill, span);
  return CUDA_SUCCESS;
}

CUresult MakePrefetch(const RegionMap& regions, uint64_t address, uint64_t size,
                      ActionPtr* action) {
  if (!IsManaged(regions, address, size)) return CUDA_ERROR_INVALID_VALUE;
  *action = std::make_shared<Prefetch>(address, size);
  return CUDA_SUCCESS;
}

CUresult MakeValueWrite(const RegionMap& regions, uint64_t address, uint64_t value,
                        ActionPtr* action) {
  if (!IsValueAddress(regions, address, Access::kReadWrite)) return CUDA_ERROR_INVALID_VALUE;
  *action = std::make_shared<ValueWrite>(address, value);
  return CUDA_SUCCESS;
}

CUresult MakeHostCall(CUhostFn function, void* user_data, ActionPtr* action) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *action = std::make_shared<HostCall>(function, user_data);
  return CUDA_SUCCESS;
}

bool IsManaged(const RegionMap& regions, uint64_t address, uint64_t size) {
  const std::optional<Region> region = regions.Find(address);
  return size > 0 && region.has_value() && region->kind == RegionKind::kManaged &&
         size <= region->size && address - region->base <= region->size - size;
}

bool IsValueAddress(const RegionMap& regions, uint64_t address, Access needed) {
  Span span{0, sizeof(uint64_t), needed};
  return address % sizeof(uint64_t) == 0 && FindSpan(regions, {address, Side::kDevice}, &span);
}

}  // namespace weft::hostcuda
