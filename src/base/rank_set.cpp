#include "base/rank_set.h"

namespace partita {

void RankSet::resize(std::uint32_t capacity) {
  levels_.clear();
  if (capacity == 0) return;
  std::uint32_t words = capacity;
  do {
    words = (words + 63) / 64;
    levels_.push_back({std::vector<std::uint64_t>(words, 0)});
  } while (words > 1);
}

std::uint32_t RankSet::count() const {
  std::uint32_t total = 0;
  if (levels_.empty()) return total;
  for (const std::uint64_t word : levels_[0].words) {
    total += static_cast<std::uint32_t>(std::popcount(word));
  }
  return total;
}

std::uint32_t RankSet::nth(std::uint32_t index) const {
  CHECK(!levels_.empty());
  const std::vector<std::uint64_t>& words = levels_[0].words;
  for (std::uint32_t at = 0; at < words.size(); ++at) {
    std::uint64_t word = words[at];
    const auto members = static_cast<std::uint32_t>(std::popcount(word));
    if (index >= members) {
      index -= members;
      continue;
    }
    for (; index > 0; --index) word &= word - 1;
    return at * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
  }
  CHECK(false);
  return kNone;
}

}  // namespace partita
