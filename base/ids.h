// Distinct types for the numbers that name things, so that a node index is never passed for a lane.
#pragma once

#include <cstdint>
#include <utility>

namespace weft {

// A number of kind Tag. Value 0 is an ordinary value; "none" is written with std::optional.
template <typename Tag, typename Rep>
class StrongId {
 public:
  using rep = Rep;
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison's own 0 for a pointer
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  template <typename H>
  friend H AbslHashValue(H h, StrongId id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  Rep value_ = 0;
};

using JobId = StrongId<struct JobIdTag, uint64_t>;  // unique for the life of a daemon; starts at 1
using BufferId =
    StrongId<struct BufferIdTag, uint64_t>;  // unique for the life of a daemon; starts at 1
using GraphId = StrongId<struct GraphIdTag, uint64_t>;      // a prepared graph of one executor
using SessionId = StrongId<struct SessionIdTag, uint64_t>;  // a client's connection
using Generation =
    StrongId<struct GenerationTag, uint64_t>;  // rises when an id's content is replaced
using NodeIndex =
    StrongId<struct NodeIndexTag, uint32_t>;  // position of a node in its job, in program order
using BufferIndex = StrongId<struct BufferIndexTag, uint32_t>;  // position of a buffer in its job
using LaneId = StrongId<struct LaneIdTag, uint32_t>;            // a lane of a plan

}  // namespace weft
