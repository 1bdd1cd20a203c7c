// Collects what is wrong with a job: lists the first violations one by one and counts the others,
// so that a job with 400,000 faults costs no more than one with a hundred.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/error_context.h"

namespace weft::ir {

class Violations {
 public:
  explicit Violations(uint32_t max_listed) : max_listed_(max_listed) {}

  // Code that ToStatus gives when all violations came with the same one; anything mixed is
  // INVALID_ARGUMENT.
  void Add(FieldViolation violation, absl::StatusCode code = absl::StatusCode::kInvalidArgument);

  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  // True when further violations are only counted: no need to look for a nearest name.
  bool full() const { return listed_.size() >= max_listed_; }

  // OK when there are none.
  absl::Status ToStatus() const;

 private:
  const uint32_t max_listed_;
  uint64_t count_ = 0;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  std::vector<FieldViolation> listed_;
};

}  // namespace weft::ir
