#include "kernels/nearest_name.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace weft::kernels {
namespace {

constexpr size_t kMaxLength = 64;
using Row = std::array<size_t, kMaxLength + 1>;

// Optimal string alignment distance. REQUIRES: both at most kMaxLength long.
size_t Distance(absl::string_view a, absl::string_view b) {
  Row before{};
  Row last{};
  Row current{};
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = last;
    last = current;
  }
  return last[b.size()];
}

}  // namespace

absl::string_view NearestName(absl::string_view name,
                              absl::Span<const absl::string_view> candidates) {
  if (name.size() > kMaxLength) return "";
  const std::string lower = absl::AsciiStrToLower(name);
  absl::string_view best;
  size_t best_distance = kMaxLength;
  for (const absl::string_view candidate : candidates) {
    if (candidate.size() > kMaxLength) continue;
    const size_t distance = Distance(lower, absl::AsciiStrToLower(candidate));
    const size_t allowed = (std::max(name.size(), candidate.size()) + 2) / 3;
    if (distance <= allowed && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(absl::string_view nearest) {
  return nearest.empty() ? "" : absl::StrCat(" Did you mean \"", nearest, "\"?");
}

}  // namespace weft::kernels
