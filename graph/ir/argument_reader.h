// The arguments of a kernel or library node, bound to a schema. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"
#include "kernels/bind.h"

namespace google::protobuf {
template <typename Element>
class RepeatedPtrField;
}  // namespace google::protobuf
namespace weft::v1 {
class Argument;
}  // namespace weft::v1

namespace weft::ir {

// Reads the arguments of one node; made anew for each.
class ArgumentReader {
 public:
  using Arguments = google::protobuf::RepeatedPtrField<v1::Argument>;

  // The references must outlive the reader. `field`: of the node, such as "kernel.args".
  ArgumentReader(const NodePlace& place, absl::string_view field, const Arguments& arguments,
                 const Graph& graph, Violations& violations)
      : place_(place),
        field_(field),
        arguments_(arguments),
        graph_(graph),
        violations_(violations) {}

  // nullopt when something is wrong with them.
  std::optional<kernels::BoundCall> Read(const kernels::KernelSchema& schema,
                                         const ViewReader& views);

  // One view a buffer argument that is given, in schema order, and the bytes of each that the call
  // touches.
  struct ArgumentView {
    View view;
    ByteRange touched;
    Access access = Access::kRead;
  };
  const std::vector<ArgumentView>& views() const { return views_; }

 private:
  std::string PartOf(int argument) const;
  bool ReadAll(const ViewReader& views);
  bool ReadArgument(int index, const v1::Argument& argument, const ViewReader& views);
  bool ReadBuffer(int index, const v1::Argument& argument, const ViewReader& views);
  void Report(const FieldViolation& violation);
  void CollectViews(const kernels::KernelSchema& schema, const kernels::BoundCall& call);

  const NodePlace& place_;
  const absl::string_view field_;
  const Arguments& arguments_;
  const Graph& graph_;
  Violations& violations_;
  std::vector<ReadView> read_;  // of the view arguments; given_ points into their shapes
  std::vector<std::optional<uint32_t>> read_index_;  // by argument, in read_
  std::vector<kernels::GivenArgument> given_;
  std::vector<ArgumentView> views_;
};

}  // namespace weft::ir
