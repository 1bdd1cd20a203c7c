// A stack of its own on which a function runs until it suspends itself, and goes on when resumed.
//
//   std::unique_ptr<Fiber> fiber = Fiber::Create([](Fiber& self) { …; self.Suspend(); …; });
//   fiber->Resume();  // until the first Suspend
//   fiber->Resume();  // to its end
//
// Thread safety: none; every call comes from the operating system's thread that created it.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace weft::hostcuda {

// 128 KiB of addresses, of which the system gives what is touched: a GPU's threads have small stacks,
// but printf alone takes some KiB here. Below lies a page that faults.
inline constexpr size_t kFiberStackBytes = size_t{128} * 1024;

class Fiber {
 public:
  using Body = std::function<void(Fiber&)>;

  // What Suspend throws when the fiber is destroyed before its end. A body lets it pass.
  struct Abandoned {};

  // Null when the system gives no memory. Expensive: two to three system calls.
  static std::unique_ptr<Fiber> Create(Body body);
  // Unwinds what is suspended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it suspends or ends. REQUIRES: called outside the fiber, which has not ended.
  void Resume();
  // REQUIRES: called on the fiber.
  void Suspend();

 private:
  // The memory of a stack, with a page below that faults.
  class Stack {
   public:
    Stack() = default;
    ~Stack();
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    bool Map();
    void* lowest() const;
    // How much of its top to leave free.
    size_t Shift() const;

   private:
    void* mapping_ = nullptr;
  };
  // Whom a sanitizer takes to be running. Empty without one.
  struct SanitizerState {
    void* fake_stack = nullptr;
    const void* stack_lowest = nullptr;
    size_t stack_bytes = 0;
    void* tsan_fiber = nullptr;
  };

  explicit Fiber(Body body) : body_(std::move(body)) {}
  void Start();
  boost::context::fiber Main(boost::context::fiber&& outside);
  // The annotations around a switch into the fiber and back.
  void BeginEnter();
  void EndEnter();
  void BeginLeave(bool for_ever);
  void EndLeave();

  const Body body_;
  Stack stack_;
  bool abandoned_ = false;
  boost::context::fiber inside_;   // while suspended
  boost::context::fiber outside_;  // while running: who resumed it
  SanitizerState own_, resumer_;
};

}  // namespace weft::hostcuda
