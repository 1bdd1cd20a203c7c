#include "graph/ir/parameter_effects.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <variant>

#include "graph/ir/byte_set.h"

namespace weft::ir {
namespace {

// Bytes of one buffer by what happens to them.
struct Touched {
  ByteSet read;  // before anything of the same run wrote them
  ByteSet
      maybe_read;   // the same, but some of the bytes may be left out: rows that lie a pitch apart
  ByteSet written;  // for certain
  ByteSet maybe;    // by something that may not happen, or that leaves bytes out
};

// True when the use covers every byte of its range for certain.
bool IsWhole(const Use& use) { return use.kind == UseKind::kPlain && use.runs == Use::kAllBytes; }

void Note(const Use& use, Touched& bytes) {
  if (kernels::Reads(use.access)) {
    ByteSet& read = IsWhole(use) ? bytes.read : bytes.maybe_read;
    bytes.written.ForEachGap(use.range, [&read](ByteRange gap) { read.Add(gap); });
  }
  if (!kernels::Writes(use.access)) return;
  (IsWhole(use) ? bytes.written : bytes.maybe).Add(use.range);
}

// visit(set, access, kind) for each set of bytes of a buffer.
template <typename Visit>
void ForEachSet(const Touched& bytes, Visit&& visit) {
  visit(bytes.read, Access::kRead, UseKind::kPlain);
  visit(bytes.maybe_read, Access::kRead, UseKind::kMaybe);
  visit(bytes.written, Access::kWrite, UseKind::kPlain);
  visit(bytes.maybe, Access::kWrite, UseKind::kMaybe);
}

using TouchedBuffers = std::map<BufferIndex, Touched>;  // by storage

void NoteEffects(const GraphCall& call, const std::vector<Graph>& graphs, const Graph& graph,
                 TouchedBuffers& touched) {
  const absl::Span<const View> bindings = graph.BindingsOf(call);
  for (const ParameterEffect& effect : graphs[call.graph].effects) {
    const View& bound = bindings[effect.parameter];
    Touched& bytes = touched[graph.buffer(bound.buffer).storage];
    const ByteRange range = {bound.range.offset + effect.range.offset, effect.range.size};
    const bool is_whole = effect.kind == UseKind::kPlain;
    if (effect.access == Access::kRead) {
      (is_whole ? bytes.read : bytes.maybe_read).Add(range);
    } else {
      (is_whole ? bytes.written : bytes.maybe).Add(range);
    }
  }
}

void AddUses(NodeIndex node, const TouchedBuffers& touched, Graph& graph) {
  for (const auto& [storage, bytes] : touched) {
    const BufferIndex buffer = storage;
    ForEachSet(bytes, [&](const ByteSet& set, Access access, UseKind kind) {
      set.ForEach([&](ByteRange range) {
        graph.uses.push_back({node, buffer, range, access, kind});
      });
    });
  }
}

void AddAll(const ByteSet& from, ByteSet& to) {
  from.ForEach([&to](ByteRange range) { to.Add(range); });
}

// What one of two bodies does, not known which.
Touched EitherOf(const Touched& a, const Touched& b) {
  Touched either = a;
  AddAll(b.read, either.read);
  AddAll(b.maybe_read, either.maybe_read);
  AddAll(a.written, either.maybe);
  AddAll(b.written, either.maybe);
  AddAll(b.maybe, either.maybe);
  either.written = a.written.Common(b.written);
  return either;
}

}  // namespace

std::vector<ParameterEffect> EffectsOf(const Graph& graph) {
  std::vector<Touched> touched(graph.buffers.size());
  // Program order means nothing then: what any node writes is taken to be written in time.
  if (graph.options.ordering == Ordering::kExplicit) {
    for (const Use& use : graph.uses) {
      if (IsWhole(use) && kernels::Writes(use.access)) {
        touched[use.storage.value()].written.Add(use.range);
      }
    }
  }
  for (const Use& use : graph.uses) Note(use, touched[use.storage.value()]);
  std::vector<ParameterEffect> effects;
  for (uint32_t p = 0; p < graph.parameters.size(); ++p) {
    const Touched& bytes = touched[graph.parameters[p].value()];
    ForEachSet(bytes, [&](const ByteSet& set, Access access, UseKind kind) {
      set.ForEach([&](ByteRange range) { effects.push_back({p, range, access, kind}); });
    });
  }
  return effects;
}

std::vector<uint32_t> KernelModulesOf(const Graph& graph, const std::vector<Graph>& graphs) {
  std::vector<uint32_t> modules;
  for (const Node& node : graph.nodes) {
    if (const auto* kernel = std::get_if<UserKernelOp>(&node.op)) modules.push_back(kernel->module);
    for (const GraphCall& call : graph.CallsOf(node.op)) {
      const std::vector<uint32_t>& of_graph = graphs[call.graph].kernel_modules;
      modules.insert(modules.end(), of_graph.begin(), of_graph.end());
    }
  }
  std::sort(modules.begin(), modules.end());
  modules.erase(std::unique(modules.begin(), modules.end()), modules.end());
  return modules;
}

void AddUsesOfGraph(NodeIndex node, const GraphCall& call, const std::vector<Graph>& graphs,
                    Graph& graph) {
  TouchedBuffers touched;
  NoteEffects(call, graphs, graph, touched);
  AddUses(node, touched, graph);
}

void AddUsesOfBodies(NodeIndex node, ConditionalOp::Kind kind, absl::Span<const GraphCall> calls,
                     const std::vector<Graph>& graphs, Graph& graph) {
  // Of an IF with two bodies one runs for certain; of all others it may be that none does.
  const bool one_runs = kind == ConditionalOp::Kind::kIf && calls.size() == 2;
  TouchedBuffers first;
  NoteEffects(calls[0], graphs, graph, first);
  std::vector<TouchedBuffers> others(calls.size() - 1);
  for (size_t i = 1; i < calls.size(); ++i) NoteEffects(calls[i], graphs, graph, others[i - 1]);
  if (!one_runs) others.emplace_back();  // a body that does nothing
  for (const TouchedBuffers& other : others) {
    for (const auto& [storage, bytes] : other) first[storage];
    for (auto& [storage, bytes] : first) {
      const auto it = other.find(storage);
      bytes = EitherOf(bytes, it == other.end() ? Touched() : it->second);
    }
  }
  AddUses(node, first, graph);
}

}  // namespace weft::ir
