// Move-only ownership of one driver object: the part that Stream, Event, Allocation … share.
#pragma once

#include <utility>

#include "cuda/driver.h"

namespace weft::cuda {

// A context without owning it, as every handle keeps it. Valid while the Context it came from lives
// (moving that Context changes nothing).
struct ContextRef {
  const Driver* driver = nullptr;
  CUcontext handle = nullptr;
  CUdevice device = 0;
};

// Owns `handle` and gives it to kDestroy exactly once. Move leaves the source empty; move
// assignment destroys the old object first; self-move changes nothing. Handle{} means "none".
// Thread safety: as a unique_ptr.
template <typename Handle, void (*kDestroy)(const ContextRef&, Handle)>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  UniqueHandle(const ContextRef& context, Handle handle) : context_(context), handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, Handle{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) {
      Reset();
      context_ = other.context_;
      handle_ = std::exchange(other.handle_, Handle{});
    }
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { Reset(); }

  void Reset() {
    if (valid()) kDestroy(context_, std::exchange(handle_, Handle{}));
  }
  // Leaves the handle to another owner.
  void Release() { handle_ = Handle{}; }
  bool valid() const { return handle_ != Handle{}; }
  Handle get() const { return handle_; }
  const ContextRef& context() const { return context_; }
  const Driver& driver() const { return *context_.driver; }

 private:
  ContextRef context_;
  Handle handle_ = {};
};

}  // namespace weft::cuda
