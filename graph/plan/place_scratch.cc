// Offsets in the scratch area. Two pieces (scratch buffers, workspaces of kernels) may share bytes
// only if all uses of one come before all uses of the other, by lanes and event edges. Up to
// kMaxPairwise pieces each is placed by first fit, the largest first, against all those it may run
// beside. Beyond, pieces go in order of first use into slots of their size that older pieces have
// left, which looks at a few slots only.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "graph/plan/errors.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

// 1,024 pieces make half a million pairs: about 5 ms.
constexpr size_t kMaxPairwise = 1024;
// Slots looked at for a piece, beyond kMaxPairwise.
constexpr int kMaxSlots = 16;

struct Piece {
  uint64_t size = 0;  // a multiple of kAreaAlignment
  uint64_t offset = 0;
  uint32_t first_use = std::numeric_limits<uint32_t>::max();  // position in the plan's order
  uint32_t last_use = 0;
  bool is_used = false;
};

// Of the pieces of an area.
uint64_t PieceAlignment(const ir::Graph& graph, ir::MemoryKind memory) {
  if (memory == ir::MemoryKind::kManaged) return kManagedAlignment;
  return graph.has_textures ? kTextureAlignment : kAreaAlignment;
}

// The buffers of a run in one kind of memory (by BufferIndex) and, of the device's, the workspaces
// (behind them) of a plan, with their lifetimes.
class Pieces {
 public:
  Pieces(const PlanState& state, ir::MemoryKind memory)
      : state_(state),
        memory_(memory),
        alignment_(PieceAlignment(state.graph, memory)),
        lanes_(state.clocks.lanes) {
    for (const ir::Buffer& buffer : state.graph.buffers) Append(buffer.size_bytes);
    // Of uses of other buffers only the order would be noted: they are left out here and below.
    for (uint32_t i = 0; i < state.plan.order.size(); ++i) NoteUses(state.plan.order[i], i);
  }

  size_t size() const { return pieces_.size(); }
  Piece& operator[](size_t i) { return pieces_[i]; }
  const Piece& operator[](size_t i) const { return pieces_[i]; }
  // The node whose workspace piece i is. REQUIRES: i is not a buffer's.
  NodeIndex WorkspaceOwner(size_t i) const { return owners_[i - state_.graph.buffers.size()]; }
  bool IsBuffer(size_t i) const { return i < state_.graph.buffers.size(); }

  // True when every use of a has ended before any use of b starts.
  bool Precedes(size_t a, size_t b) const {
    for (uint32_t l = 0; l < lanes_; ++l) {
      if (used_up_to_[a * lanes_ + l] > ended_before_[b * lanes_ + l]) return false;
    }
    return true;
  }
  bool MayShare(size_t a, size_t b) const { return Precedes(a, b) || Precedes(b, a); }

 private:
  void Append(uint64_t size_bytes) {
    pieces_.push_back({.size = AlignUp(size_bytes, alignment_)});
    used_up_to_.resize(pieces_.size() * lanes_, 0);
    ended_before_.resize(pieces_.size() * lanes_, std::numeric_limits<uint32_t>::max());
  }

  void NoteUses(NodeIndex n, uint32_t order_position) {
    for (const ir::Use& use : state_.graph.UsesOf(n)) {
      const ir::Buffer& buffer = state_.graph.buffer(use.storage);
      if (buffer.shared.has_value() || buffer.is_parameter || buffer.memory != memory_) continue;
      NoteUse(use.storage.value(), n, order_position);
    }
    if (memory_ != ir::MemoryKind::kDevice || state_.plan.node(n).workspace.empty()) return;
    Append(state_.plan.node(n).workspace.size);
    owners_.push_back(n);
    NoteUse(pieces_.size() - 1, n, order_position);
  }

  void NoteUse(size_t i, NodeIndex n, uint32_t order_position) {
    Piece& piece = pieces_[i];
    piece.is_used = true;
    piece.first_use = std::min(piece.first_use, order_position);
    piece.last_use = std::max(piece.last_use, order_position);
    const PlannedNode& node = state_.plan.node(n);
    const uint32_t own = node.lane.value();
    uint32_t* const up_to = &used_up_to_[i * lanes_];
    up_to[own] = std::max(up_to[own], node.position + 1);
    uint32_t* const before = &ended_before_[i * lanes_];
    const absl::Span<const uint32_t> clock = state_.clocks.Row(n.value());
    for (uint32_t l = 0; l < lanes_; ++l) {
      before[l] = std::min(before[l], l == own ? node.position : clock[l]);
    }
  }

  const PlanState& state_;
  const ir::MemoryKind memory_;
  const uint64_t alignment_;
  const uint32_t lanes_;
  std::vector<Piece> pieces_;
  std::vector<NodeIndex> owners_;     // of workspaces
  std::vector<uint32_t> used_up_to_;  // piece × lane: nodes of the lane up to the last that uses it
  std::vector<uint32_t> ended_before_;  // piece × lane: nodes that have ended before any use of it
};

std::vector<size_t> UsedPieces(const Pieces& pieces) {
  std::vector<size_t> used;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].is_used) used.push_back(i);
  }
  return used;
}

// The lowest offset at which `size` bytes miss all of `taken`, which is sorted by offset.
uint64_t FirstFit(const std::vector<ByteRange>& taken, uint64_t size) {
  uint64_t offset = 0;
  for (const ByteRange& range : taken) {
    if (range.offset >= offset && range.offset - offset >= size) break;
    offset = std::max(offset, range.end());
  }
  return offset;
}

uint64_t PlacePairwise(Pieces& pieces, std::vector<size_t> used) {
  std::sort(used.begin(), used.end(), [&pieces](size_t a, size_t b) {
    return std::make_tuple(~pieces[a].size, pieces[a].first_use, a) <
           std::make_tuple(~pieces[b].size, pieces[b].first_use, b);
  });
  uint64_t total = 0;
  std::vector<ByteRange> taken;
  for (size_t n = 0; n < used.size(); ++n) {
    Piece& piece = pieces[used[n]];
    taken.clear();
    for (size_t earlier = 0; earlier < n; ++earlier) {
      if (pieces.MayShare(used[earlier], used[n])) continue;
      taken.push_back({pieces[used[earlier]].offset, pieces[used[earlier]].size});
    }
    std::sort(taken.begin(), taken.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
    piece.offset = FirstFit(taken, piece.size);
    total = std::max(total, piece.offset + piece.size);
  }
  return total;
}

// Slots by size class (a power of two of bytes), each class with the longest unused at the front.
class SlotAllocator {
 public:
  explicit SlotAllocator(Pieces& pieces) : pieces_(pieces) {}

  uint64_t Run(std::vector<size_t> used) {
    std::sort(used.begin(), used.end(), [this](size_t a, size_t b) {
      return std::make_pair(pieces_[a].first_use, a) < std::make_pair(pieces_[b].first_use, b);
    });
    for (const size_t i : used) Place(i);
    return total_;
  }

 private:
  struct Slot {
    uint64_t offset = 0;
    size_t last = 0;  // the piece that used it last
  };

  void Place(size_t i) {
    const uint64_t slot_size = std::bit_ceil(pieces_[i].size);
    std::deque<Slot>& slots = classes_[static_cast<size_t>(std::countr_zero(slot_size))];
    const auto end = slots.begin() + std::min<std::ptrdiff_t>(kMaxSlots, std::ssize(slots));
    const auto free = std::find_if(
        slots.begin(), end, [this, i](const Slot& slot) { return pieces_.Precedes(slot.last, i); });
    Slot slot = {total_, i};
    if (free != end) {
      slot.offset = free->offset;
      slots.erase(free);
    } else {
      total_ += slot_size;
    }
    slots.push_back(slot);
    pieces_[i].offset = slot.offset;
  }

  Pieces& pieces_;
  std::array<std::deque<Slot>, 64> classes_;
  uint64_t total_ = 0;
};

// Sizes of pieces that are live at the same time when nodes run in the plan's order.
uint64_t LargestLive(const Pieces& pieces, const std::vector<size_t>& used, size_t steps) {
  std::vector<uint64_t> begins(steps, 0);
  std::vector<uint64_t> ends(steps, 0);
  for (const size_t i : used) {
    begins[pieces[i].first_use] += pieces[i].size;
    ends[pieces[i].last_use] += pieces[i].size;
  }
  uint64_t live = 0;
  uint64_t largest = 0;
  for (size_t step = 0; step < steps; ++step) {
    live += begins[step];
    largest = std::max(largest, live);
    live -= ends[step];
  }
  return largest;
}

uint64_t PlaceApart(Pieces& pieces, const std::vector<size_t>& used) {
  uint64_t total = 0;
  for (const size_t i : used) {
    pieces[i].offset = total;
    total += pieces[i].size;
  }
  return total;
}

void WriteBack(const Pieces& pieces, const std::vector<size_t>& used, PlanState& state) {
  for (const size_t i : used) {
    if (pieces.IsBuffer(i)) {
      state.plan.scratch.buffer_offsets[i] = pieces[i].offset;
    } else {
      state.plan.nodes[pieces.WorkspaceOwner(i).value()].workspace.offset = pieces[i].offset;
    }
  }
}

enum class Sharing { kOn, kOff };

// Gives every used piece its offset; the bytes of the area that they take.
uint64_t PlacePieces(Pieces& pieces, const std::vector<size_t>& used, Sharing sharing) {
  if (sharing == Sharing::kOff) return PlaceApart(pieces, used);
  if (used.size() <= kMaxPairwise) return PlacePairwise(pieces, used);
  return SlotAllocator(pieces).Run(used);
}

// Sizes that no device has are refused before they are added up, so that sums fit 64 bits.
constexpr uint64_t kAnyDevice = uint64_t{1} << 43;

absl::Status PlaceDevice(PlanState& state, Sharing sharing, uint64_t most) {
  for (const PlannedNode& node : state.plan.nodes) {
    if (node.workspace.size > most) return ScratchTooLarge(node.workspace.size, most);
  }
  Pieces pieces(state, ir::MemoryKind::kDevice);
  const std::vector<size_t> used = UsedPieces(pieces);
  Scratch& scratch = state.plan.scratch;
  for (const size_t i : used) scratch.unshared_bytes += pieces[i].size;
  scratch.largest_live_bytes = LargestLive(pieces, used, state.plan.order.size());
  scratch.size_bytes = PlacePieces(pieces, used, sharing);
  if (scratch.size_bytes > most) return ScratchTooLarge(scratch.size_bytes, most);
  WriteBack(pieces, used, state);
  return absl::OkStatus();
}

// How much a job may pin is a limit of jobs, checked before (ir::Limits).
void PlacePinned(PlanState& state, Sharing sharing) {
  Pieces pieces(state, ir::MemoryKind::kPinned);
  const std::vector<size_t> used = UsedPieces(pieces);
  state.plan.pinned_bytes = PlacePieces(pieces, used, sharing);
  WriteBack(pieces, used, state);
}

// Never shared: advice lasts from run to run, and moving one buffer's pages would move another's.
absl::Status PlaceManaged(PlanState& state, uint64_t most) {
  Pieces pieces(state, ir::MemoryKind::kManaged);
  const std::vector<size_t> used = UsedPieces(pieces);
  state.plan.managed_bytes = PlacePieces(pieces, used, Sharing::kOff);
  if (state.plan.managed_bytes > most) return ManagedTooLarge(state.plan.managed_bytes, most);
  WriteBack(pieces, used, state);
  return absl::OkStatus();
}

bool Has(const PlanState& state, ir::MemoryKind memory) {
  return std::any_of(state.graph.buffers.begin(), state.graph.buffers.end(),
                     [memory](const ir::Buffer& buffer) { return buffer.memory == memory; });
}

absl::Status Place(PlanState& state, Sharing sharing) {
  const uint64_t memory = state.device.total_memory_bytes;
  const uint64_t most = memory == 0 ? kAnyDevice : std::min(memory, kAnyDevice);
  state.plan.scratch.buffer_offsets.resize(state.graph.buffers.size());
  WEFT_RETURN_IF_ERROR(PlaceDevice(state, sharing, most));
  if (Has(state, ir::MemoryKind::kPinned)) PlacePinned(state, sharing);
  if (!Has(state, ir::MemoryKind::kManaged)) return absl::OkStatus();
  return PlaceManaged(state, most);
}

}  // namespace

absl::Status PlaceScratch(PlanState& state) { return Place(state, Sharing::kOn); }

absl::Status PlaceScratchApart(PlanState& state) { return Place(state, Sharing::kOff); }

}  // namespace weft::plan
