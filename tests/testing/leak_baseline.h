// What a process holds open now, to be compared with what it holds later.
//
//   const LeakBaseline before = LeakBaseline::Take();
//   ...
//   EXPECT_THAT(before.Leaked(), ::testing::IsEmpty());
//
// Thread safety: values.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace weft::testing {

class LeakBaseline {
 public:
  // The file descriptors of this process, or of process `pid`.
  static LeakBaseline Take();
  static LeakBaseline Take(pid_t pid);

  // Descriptors that are open now beyond those at Take, each as what it refers to ("socket",
  // "/memfd:weft-ring", "/tmp/file"). Compared by kind and count: numbers and inodes may differ.
  std::vector<std::string> Leaked() const;

 private:
  LeakBaseline(pid_t pid, std::vector<std::string> open) : pid_(pid), open_(std::move(open)) {}

  pid_t pid_;
  std::vector<std::string> open_;  // sorted
};

}  // namespace weft::testing
