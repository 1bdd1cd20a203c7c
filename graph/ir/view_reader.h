// Views of buffers: names resolved, ranges and shapes worked out and checked. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/buffer_reader.h"
#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class View;
}  // namespace weft::v1

namespace weft::ir {

struct ReadView {
  View view;
  kernels::DType dtype = kernels::DType::kU8;
  // Of the view, outermost first. Empty where the bytes are no whole number of elements.
  std::vector<uint64_t> shape;
};

// Which buffers a node may use.
enum class Reach : uint8_t {
  kOwnDevice,  // not those that lie on another device than the job's
  kAnyDevice,  // copies
};

class ViewReader {
 public:
  // The references must outlive the reader.
  ViewReader(const Graph& graph, const ReadBuffers& buffers, Violations& violations)
      : graph_(graph), buffers_(buffers), violations_(violations) {}

  // nullopt when something is wrong with it, which is then in the violations (or was, for its
  // buffer). Makes no text where all is well.
  std::optional<ReadView> Read(const ViewPlace& place, const v1::View& view,
                               Reach reach = Reach::kOwnDevice) const;

 private:
  std::optional<BufferIndex> FindBuffer(const ViewPlace& place, const v1::View& view) const;
  // The bytes that the view's own shape makes.
  std::optional<uint64_t> ShapeBytes(const ViewPlace& place, const v1::View& view,
                                     ReadView& result) const;

  const Graph& graph_;
  const ReadBuffers& buffers_;
  Violations& violations_;
};

}  // namespace weft::ir
