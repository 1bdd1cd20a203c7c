// The order between nodes that set variables of a module and those that launch its kernels: as if the
// former wrote, and the latter read, one buffer. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace weft::ir {

class ModuleOrder {
 public:
  // `node` launches a kernel of the module: calls wait(earlier) for each node that it comes after.
  template <typename Wait>
  void Read(uint32_t module, uint32_t node, Wait&& wait) {
    Users& users = modules_[module];
    if (users.writer != kNobody) wait(users.writer);
    users.readers.push_back(node);
  }
  // `node` sets variables of the module.
  template <typename Wait>
  void Write(uint32_t module, uint32_t node, Wait&& wait) {
    Users& users = modules_[module];
    if (users.writer != kNobody) wait(users.writer);
    for (const uint32_t reader : std::exchange(users.readers, {})) wait(reader);
    users.writer = node;
  }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Users {
    uint32_t writer = kNobody;      // the last
    std::vector<uint32_t> readers;  // since then
  };
  absl::flat_hash_map<uint32_t, Users> modules_;
};

}  // namespace weft::ir
