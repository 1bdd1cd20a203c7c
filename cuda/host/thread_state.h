// What the driver keeps for each thread of the program.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::hostcuda {

struct ThreadState {
  std::vector<uint64_t> contexts;  // handles; the last one is current
  // In a host function no driver function may be called.
  bool in_host_function = false;

  static ThreadState& Get() {
    static thread_local ThreadState state;
    return state;
  }
};

}  // namespace weft::hostcuda
