#include "graph/ir/violations.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace weft::ir {

void Violations::Add(FieldViolation violation, absl::StatusCode code) {
  if (count_++ == 0) {
    code_ = code;
  } else if (code_ != code) {
    code_ = absl::StatusCode::kInvalidArgument;
  }
  if (!full()) listed_.push_back(std::move(violation));
}

absl::Status Violations::ToStatus() const {
  if (empty()) return absl::OkStatus();
  std::vector<FieldViolation> all = listed_;
  if (count_ > listed_.size()) {
    all.push_back({"", absl::StrCat(count_ - listed_.size(), " more faults are not listed")});
  }
  absl::Status status = InvalidArgumentError(std::move(all));
  if (code_ == absl::StatusCode::kInvalidArgument) return status;
  absl::Status recoded(code_, status.message());
  status.ForEachPayload([&recoded](absl::string_view url, const absl::Cord& payload) {
    recoded.SetPayload(url, payload);
  });
  return recoded;
}

}  // namespace weft::ir
