#include "cuda/host/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_FIBER_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_FIBER_TSAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WEFT_FIBER_ASAN
#endif
#ifdef __SANITIZE_THREAD__
#define WEFT_FIBER_TSAN
#endif
#ifdef WEFT_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WEFT_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::hostcuda {
namespace {

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// The stack is the Fiber's; Boost is only lent it.
struct LentStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context& /*stack*/) noexcept {}
};

}  // namespace

bool Fiber::Stack::Map() {
  void* mapping = ::mmap(nullptr, PageBytes() + kFiberStackBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return false;
  mapping_ = mapping;
  // Fails where the process has too many mappings already; the stack then goes without.
  static_cast<void>(::mprotect(mapping_, PageBytes(), PROT_NONE));
  return true;
}

Fiber::Stack::~Stack() {
  if (mapping_ != nullptr) ::munmap(mapping_, PageBytes() + kFiberStackBytes);
}

// Stacks lie whole pages apart, and what their fibers touch lies at their tops: without this all of it would compete for
// the few lines that a cache has for one place in a page. 0 to 4032.
size_t Fiber::Stack::Shift() const {
  constexpr size_t kLineBytes = 64, kLines = 64;
  const size_t page = reinterpret_cast<uintptr_t>(mapping_) / PageBytes();
  return page % kLines * kLineBytes;
}

void* Fiber::Stack::lowest() const { return static_cast<char*>(mapping_) + PageBytes(); }

std::unique_ptr<Fiber> Fiber::Create(Body body) {
  std::unique_ptr<Fiber> fiber(new Fiber(std::move(body)));
  if (!fiber->stack_.Map()) return nullptr;
  fiber->Start();
  return fiber;
}

void Fiber::Start() {
  boost::context::stack_context lent;
  lent.size = kFiberStackBytes - stack_.Shift();
  lent.sp = static_cast<char*>(stack_.lowest()) + lent.size;
  own_.stack_lowest = stack_.lowest();
  own_.stack_bytes = kFiberStackBytes;
#ifdef WEFT_FIBER_TSAN
  own_.tsan_fiber = __tsan_create_fiber(0);
#endif
  inside_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(lent.sp, lent.size, lent), LentStack{},
      [this](boost::context::fiber&& outside) { return Main(std::move(outside)); });
}

Fiber::~Fiber() {
  abandoned_ = true;
  if (inside_) Resume();
#ifdef WEFT_FIBER_TSAN
  if (own_.tsan_fiber != nullptr) __tsan_destroy_fiber(own_.tsan_fiber);
#endif
}

boost::context::fiber Fiber::Main(boost::context::fiber&& outside) {
  outside_ = std::move(outside);
  EndLeave();
  // A fiber that never ran has nothing to unwind.
  if (!abandoned_) {
    try {
      body_(*this);
    } catch (const Abandoned&) {
    }
  }
  BeginLeave(/*for_ever=*/true);
  return std::move(outside_);
}

void Fiber::Resume() {
  BeginEnter();
  inside_ = std::move(inside_).resume();
  EndEnter();
}

void Fiber::Suspend() {
  BeginLeave(/*for_ever=*/false);
  outside_ = std::move(outside_).resume();
  EndLeave();
  if (abandoned_) throw Abandoned{};
}

void Fiber::BeginEnter() {
#ifdef WEFT_FIBER_ASAN
  __sanitizer_start_switch_fiber(&resumer_.fake_stack, own_.stack_lowest, own_.stack_bytes);
#endif
#ifdef WEFT_FIBER_TSAN
  resumer_.tsan_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(own_.tsan_fiber, 0);
#endif
}

void Fiber::EndEnter() {
#ifdef WEFT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(resumer_.fake_stack, nullptr, nullptr);
#endif
}

void Fiber::BeginLeave([[maybe_unused]] bool for_ever) {
#ifdef WEFT_FIBER_ASAN
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &own_.fake_stack, resumer_.stack_lowest,
                                 resumer_.stack_bytes);
#endif
#ifdef WEFT_FIBER_TSAN
  __tsan_switch_to_fiber(resumer_.tsan_fiber, 0);
#endif
}

void Fiber::EndLeave() {
#ifdef WEFT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(own_.fake_stack, &resumer_.stack_lowest, &resumer_.stack_bytes);
#endif
}

}  // namespace weft::hostcuda
