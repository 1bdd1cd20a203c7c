// Who wrote each byte of one storage last, and who has read it since. What comes later asks it what
// it must wait for.
//
// Inside a job the token is a node; between jobs it is a JobId (the daemon keeps one history for
// each shared buffer).
//
//   AccessHistory<JobId> history;
//   history.Record(range, Access::kWrite, job, [&](JobId earlier, Hazard hazard) { ... });
//
// Invariants: segments are sorted, disjoint and not empty; every reader of a segment was ordered
// behind its writer, so whoever waits for the readers need not wait for the writer too.
//
// Thread safety: one thread, also for const members. Cost of Record: O(log s + segments touched +
// readers of them, each once), with s segments. Readers are kept in lists that share tails, so
// splitting a segment costs O(1), and no list is walked further than where another one was.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/byte_range.h"
#include "kernels/schema.h"

namespace weft::plan {

enum class Hazard : uint8_t {
  kReadAfterWrite,
  kWriteAfterRead,
  kWriteAfterWrite,
};

template <typename Token>
class AccessHistory {
 public:
  // Notes that `token` accesses `range`, and calls conflict(earlier, hazard) for each earlier token
  // that it must wait for: possibly more than once for the same one (but not once for each segment
  // that one of its reads was split into), never for `token` itself. An empty range does nothing.
  // REQUIRES: range.valid().
  template <typename Conflict>
  void Record(ByteRange range, kernels::Access access, Token token, Conflict&& conflict) {
    if (range.empty()) return;
    if (kernels::Writes(access)) {
      Write(range, access, token, conflict);
    } else {
      Read(range, token, conflict);
    }
  }

  // As Record, without noting anything.
  template <typename Conflict>
  void Query(ByteRange range, kernels::Access access, Token token, Conflict&& conflict) const {
    if (range.empty()) return;
    BeginWalk();
    for (auto it = FirstOverlapping(range.offset); it != segments_.end() && it->first < range.end();
         ++it) {
      Report(it->second, access, token, conflict);
    }
  }

  // Segments and readers that Record has walked over so far: what its cost grows with.
  uint64_t steps() const { return steps_; }
  // True when Record would walk over more than `limit` of them. O(log s + limit).
  bool StepsExceed(ByteRange range, kernels::Access access, size_t limit) const;

  // Forgets which bytes were touched by whom: whoever touches any of them later waits for all. With
  // join(tokens) → one token that stands for all of them (called at most twice, never with none; a
  // token may be among them several times).
  // Bounds the cost of long histories, at the price of order that the data does not ask for.
  // O(size).
  template <typename Join>
  void Collapse(Join&& join);

  // Drops every token for which done(token) is true: nothing waits for it any more. O(size).
  // REQUIRES: whatever such a token waited for itself is done too; otherwise later tokens would no
  // longer wait for that (a job that was cancelled in the queue stays until those before it end).
  template <typename Done>
  void RemoveIf(Done&& done);

  bool empty() const { return segments_.empty(); }
  size_t segment_count() const { return segments_.size(); }
  // Entries in memory: segments and notes of readers, those that no segment has any more included.
  // What RemoveIf bounds, if it is called whenever this has doubled since.
  size_t size() const { return segments_.size() + readers_.size(); }

 private:
  // A list of readers, shared by the segments that a split made of one.
  static constexpr uint32_t kNoReader = UINT32_MAX;
  struct Reader {
    Token token;
    uint32_t next = kNoReader;
    mutable uint32_t walk = 0;  // the last walk that came by; so did it at all behind this one
  };
  struct Segment {
    uint64_t end = 0;
    std::optional<Token> writer = {};
    uint32_t readers = kNoReader;
  };
  using Segments = std::map<uint64_t, Segment>;  // by first byte

  typename Segments::const_iterator FirstOverlapping(uint64_t offset) const {
    auto it = segments_.upper_bound(offset);
    if (it != segments_.begin()) {
      const auto before = std::prev(it);
      if (before->second.end > offset) return before;
    }
    return it;
  }

  // Makes `offset` a border between segments.
  void SplitAt(uint64_t offset) {
    auto it = segments_.upper_bound(offset);
    if (it == segments_.begin()) return;
    --it;
    if (it->first == offset || it->second.end <= offset) return;
    Segment tail = it->second;
    it->second.end = offset;
    segments_.emplace_hint(std::next(it), offset, tail);
  }

  // From here on no reader was seen.
  void BeginWalk() const {
    if (++walk_ != 0) return;
    for (const Reader& reader : readers_) reader.walk = 0;  // marks of the walks before the wrap
    walk_ = 1;
  }

  // Calls visit(token) for the readers of a segment that this walk has not seen; stops when visit
  // returns false.
  template <typename Visit>
  void VisitUnseen(const Segment& segment, Visit&& visit) const {
    for (uint32_t r = segment.readers; r != kNoReader; r = readers_[r].next) {
      if (std::exchange(readers_[r].walk, walk_) == walk_) return;
      if (!visit(readers_[r].token)) return;
    }
  }

  template <typename Conflict>
  void Report(const Segment& segment, kernels::Access access, Token token,
              Conflict& conflict) const {
    const bool writes = kernels::Writes(access);
    if (writes && segment.readers != kNoReader) {
      VisitUnseen(segment, [&](Token reader) {
        if (reader != token) conflict(reader, Hazard::kWriteAfterRead);
        return true;
      });
      if (!kernels::Reads(access)) return;
    }
    if (!segment.writer.has_value() || *segment.writer == token) return;
    if (kernels::Reads(access)) {
      conflict(*segment.writer, Hazard::kReadAfterWrite);
    } else {
      conflict(*segment.writer, Hazard::kWriteAfterWrite);
    }
  }

  template <typename Conflict>
  void Read(ByteRange range, Token token, Conflict& conflict);
  template <typename Conflict>
  void Write(ByteRange range, kernels::Access access, Token token, Conflict& conflict);
  void AddReader(Segment& segment, Token token);

  Segments segments_;
  std::vector<Reader> readers_;
  uint64_t steps_ = 0;
  mutable uint32_t walk_ = 0;
};

template <typename Token>
template <typename Conflict>
void AccessHistory<Token>::Read(ByteRange range, Token token, Conflict& conflict) {
  SplitAt(range.offset);
  SplitAt(range.end());
  uint64_t at = range.offset;
  auto it = segments_.lower_bound(at);
  while (at < range.end()) {
    if (it == segments_.end() || it->first > at) {  // bytes that nobody touched yet
      const uint64_t gap_end =
          it == segments_.end() ? range.end() : std::min(it->first, range.end());
      it = segments_.emplace_hint(it, at, Segment{.end = gap_end});
    }
    Report(it->second, kernels::Access::kRead, token, conflict);
    AddReader(it->second, token);
    ++steps_;
    at = it->second.end;
    ++it;
  }
}

template <typename Token>
template <typename Conflict>
void AccessHistory<Token>::Write(ByteRange range, kernels::Access access, Token token,
                                 Conflict& conflict) {
  SplitAt(range.offset);
  SplitAt(range.end());
  BeginWalk();
  auto it = segments_.lower_bound(range.offset);
  const auto count = [&](Token earlier, Hazard hazard) {
    ++steps_;
    conflict(earlier, hazard);
  };
  while (it != segments_.end() && it->first < range.end()) {
    ++steps_;
    Report(it->second, access, token, count);
    it = segments_.erase(it);
  }
  segments_.emplace_hint(it, range.offset, Segment{.end = range.end(), .writer = token});
}

template <typename Token>
void AccessHistory<Token>::AddReader(Segment& segment, Token token) {
  if (segment.writer == token) return;  // whoever waits for its write waits for its read
  if (segment.readers != kNoReader && readers_[segment.readers].token == token) return;
  readers_.push_back({token, segment.readers});
  segment.readers = static_cast<uint32_t>(readers_.size() - 1);
}

template <typename Token>
bool AccessHistory<Token>::StepsExceed(ByteRange range, kernels::Access access,
                                       size_t limit) const {
  if (range.empty()) return false;
  BeginWalk();
  size_t steps = 0;
  for (auto it = FirstOverlapping(range.offset); it != segments_.end() && it->first < range.end();
       ++it) {
    ++steps;
    if (kernels::Writes(access)) {
      VisitUnseen(it->second, [&](Token) { return ++steps <= limit; });
    }
    if (steps > limit) return true;
  }
  return false;
}

template <typename Token>
template <typename Join>
void AccessHistory<Token>::Collapse(Join&& join) {
  if (segments_.empty()) return;
  std::vector<Token> writers;
  std::vector<Token> readers;
  std::vector<bool> seen(readers_.size(), false);  // the rest of a list is seen with its cell
  for (const auto& [begin, segment] : segments_) {
    if (segment.writer.has_value()) writers.push_back(*segment.writer);
    for (uint32_t r = segment.readers; r != kNoReader && !seen[r]; r = readers_[r].next) {
      seen[r] = true;
      readers.push_back(readers_[r].token);
    }
  }
  Segment all{.end = std::prev(segments_.end())->second.end};
  const uint64_t begin = segments_.begin()->first;
  readers_.clear();
  if (!readers.empty()) {
    // Not every writer need have a reader behind it, so the readers' token stands for both.
    readers.insert(readers.end(), writers.begin(), writers.end());
    readers_.push_back({join(absl::MakeConstSpan(readers))});
    all.readers = 0;
  }
  if (!writers.empty()) all.writer = join(absl::MakeConstSpan(writers));
  segments_.clear();
  segments_.emplace(begin, all);
}

template <typename Token>
template <typename Done>
void AccessHistory<Token>::RemoveIf(Done&& done) {
  // Lists share tails: each cell is rebuilt once, from the end of its list.
  std::vector<Reader> kept;
  constexpr uint32_t kNotYet = UINT32_MAX - 1;
  std::vector<uint32_t> moved(readers_.size(), kNotYet);  // old cell → its new list
  std::vector<uint32_t> path;
  const auto rebuild = [&](uint32_t head) {
    path.clear();
    uint32_t r = head;
    for (; r != kNoReader && moved[r] == kNotYet; r = readers_[r].next) path.push_back(r);
    uint32_t list = r == kNoReader ? kNoReader : moved[r];
    for (auto cell = path.rbegin(); cell != path.rend(); ++cell) {
      if (!done(readers_[*cell].token)) {
        kept.push_back({readers_[*cell].token, list});
        list = static_cast<uint32_t>(kept.size() - 1);
      }
      moved[*cell] = list;
    }
    return list;
  };
  for (auto it = segments_.begin(); it != segments_.end();) {
    Segment& segment = it->second;
    segment.readers = rebuild(segment.readers);
    if (segment.writer.has_value() && done(*segment.writer)) segment.writer.reset();
    if (!segment.writer.has_value() && segment.readers == kNoReader) {
      it = segments_.erase(it);
      continue;
    }
    if (it != segments_.begin()) {
      Segment& before = std::prev(it)->second;
      if (before.end == it->first && before.writer == segment.writer &&
          before.readers == segment.readers) {
        before.end = segment.end;
        it = segments_.erase(it);
        continue;
      }
    }
    ++it;
  }
  readers_ = std::move(kept);
}

}  // namespace weft::plan
