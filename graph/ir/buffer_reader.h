// The buffers of a job: sizes, storage, and which of them are the same shared buffer. Private to
// graph/ir.
//
// Thread safety: one thread.
#pragma once

#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/name_table.h"
#include "graph/ir/violations.h"

namespace weft::ir {

// Fills graph.buffers with one entry a declaration (a faulty one has zero bytes), and returns their
// names. `is_sound[i]` tells whether views of buffer i can be judged.
struct ReadBuffers {
  NameTable names;
  std::vector<bool> is_sound;
};
ReadBuffers ReadBufferDecls(const v1::Job& job, const JobContext& context, Graph& graph,
                            Violations& violations);

}  // namespace weft::ir
