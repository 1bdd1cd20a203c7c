// The buffers of a job: sizes, storage, and which of them are the same shared buffer. Private to
// graph/ir.
//
// Thread safety: one thread.
#pragma once

#include "google/protobuf/repeated_ptr_field.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/name_table.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class BufferDecl;
}  // namespace weft::v1

namespace weft::ir {

// Fills graph.buffers (and graph.parameters) with one entry a declaration (a faulty one has zero bytes), and returns their
// names. `is_sound[i]` tells whether views of buffer i can be judged.
struct ReadBuffers {
  NameTable names;
  std::vector<bool> is_sound;
};
ReadBuffers ReadBufferDecls(const google::protobuf::RepeatedPtrField<v1::BufferDecl>& buffers,
                            const JobContext& context, Graph& graph, Violations& violations);

}  // namespace weft::ir
