#include "graph/plan/errors.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "kernels/nearest_name.h"

namespace weft::plan {
namespace {

constexpr size_t kMaxCycleSteps = 16;

}  // namespace

absl::Status UnknownPass(absl::string_view name, absl::string_view nearest,
                         absl::string_view known) {
  return absl::InvalidArgumentError(absl::StrCat("there is no planner pass \"", name,
                                                 "\" that can be switched; there are: ", known, ".",
                                                 kernels::DidYouMean(nearest)));
}

absl::Status DataCycle(std::string field, const std::vector<CycleStep>& steps) {
  std::string path = steps.front().node;
  const auto arrow = [](const CycleStep& step) {
    return step.by_after ? " -after-> " : " -data-> ";
  };
  const size_t shown = std::min(steps.size(), kMaxCycleSteps);
  for (size_t i = 1; i < shown; ++i) absl::StrAppend(&path, arrow(steps[i]), steps[i].node);
  if (shown < steps.size()) absl::StrAppend(&path, " -> ", steps.size() - shown, " more");
  absl::StrAppend(&path, arrow(steps.front()), steps.front().node);
  return InvalidArgumentError(
      {{std::move(field),
        absl::StrCat("data and `after` together order ", steps.size(), " nodes in a cycle: ", path,
                     "; nodes use data in program order: move a node, or take an `after` out")}});
}

absl::Status ScratchTooLarge(uint64_t needed_bytes, uint64_t device_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat("the scratch buffers need ", needed_bytes,
                                                   " bytes at once; the device has ", device_bytes,
                                                   "; use smaller buffers, or split the job"));
}

absl::Status ManagedTooLarge(uint64_t needed_bytes, uint64_t device_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat("the managed buffers need ", needed_bytes,
                                                   " bytes together; the device has ", device_bytes,
                                                   "; use smaller buffers, or split the job"));
}

}  // namespace weft::plan
