// The nodes that move and set bytes without a kernel: copies, fills, prefetches and advice. Private
// to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "cuda/device_info.h"
#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class AdviseNode;
class CopyNode;
class CopyNode_Box;
class FillNode;
class PrefetchNode;
}  // namespace weft::v1

namespace weft::ir {

class MemoryNodeReader {
 public:
  // The references must outlive the reader. `device`: the job's; null when it is not known.
  MemoryNodeReader(const NodePlace& place, const Graph& graph, const ViewReader& views,
                   const cuda::DeviceInfo* device, Violations& violations)
      : place_(place), graph_(graph), views_(views), device_(device), violations_(violations) {}

  // nullopt when something is wrong, which is then in the violations.
  std::optional<CopyOp> Read(const v1::CopyNode& copy) const;
  std::optional<FillOp> Read(const v1::FillNode& fill) const;
  std::optional<PrefetchOp> Read(const v1::PrefetchNode& prefetch) const;
  std::optional<AdviseOp> Read(const v1::AdviseNode& advise) const;

 private:
  std::optional<View> ReadView(absl::string_view part, bool is_given, const v1::View& view,
                               Reach reach = Reach::kOwnDevice) const;
  std::optional<View> ReadManaged(absl::string_view part, bool is_given,
                                  const v1::View& view) const;
  std::optional<Location> ReadLocation(absl::string_view part, int location) const;

  std::optional<CopyOp> ReadWhole(const View& src, const View& dst) const;
  std::optional<CopyOp> ReadBox(const v1::CopyNode_Box& in, const View& src, const View& dst) const;
  bool CheckBox(const CopyBox& box) const;
  bool CheckSide(absl::string_view side, const CopyBox& box, uint64_t pitch_bytes,
                 uint64_t slice_rows) const;
  // Narrows the view to what the runs reach.
  std::optional<View> Cut(absl::string_view part, const View& view,
                          const std::optional<Runs>& runs) const;
  bool CheckApart(const CopyOp& op, const CopyBox& box) const;
  bool CheckPitch(absl::string_view field, uint64_t pitch_bytes) const;

  std::optional<FillOp> ReadRows(const v1::FillNode& fill, const FillOp& whole) const;

  const NodePlace& place_;
  const Graph& graph_;
  const ViewReader& views_;
  const cuda::DeviceInfo* const device_;
  Violations& violations_;
};

}  // namespace weft::ir
