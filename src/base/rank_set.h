// RankSet: a set of small integers that finds its smallest member in a few instructions.
//
// One bit a member, and above every 64 words a word that says which of them are not empty: adding,
// removing and finding the first cost one step a level, and 64^3 members need three levels.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace partita {

class RankSet {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  RankSet() = default;
  explicit RankSet(std::uint32_t capacity) { resize(capacity); }

  // Empties the set.
  void resize(std::uint32_t capacity);

  // REQUIRES of all four: member < capacity.
  void add(std::uint32_t member) {
    for (Level& level : levels_) {
      level.words[member / 64] |= bit(member);
      member /= 64;
    }
  }
  void remove(std::uint32_t member) {
    for (Level& level : levels_) {
      std::uint64_t& word = level.words[member / 64];
      word &= ~bit(member);
      if (word != 0) return;
      member /= 64;
    }
  }
  bool contains(std::uint32_t member) const {
    return (levels_[0].words[member / 64] & bit(member)) != 0;
  }

  bool empty() const { return levels_.empty() || levels_.back().words[0] == 0; }

  // The smallest member, or kNone.
  std::uint32_t first() const {
    if (empty()) return kNone;
    std::uint32_t at = 0;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      at = at * 64 + static_cast<std::uint32_t>(std::countr_zero(level->words[at]));
    }
    return at;
  }

  // Linear in the capacity.
  std::uint32_t count() const;
  // The member with `index` smaller ones. REQUIRES: index < count(). Linear in the capacity.
  std::uint32_t nth(std::uint32_t index) const;

 private:
  struct Level {
    std::vector<std::uint64_t> words;
  };

  static std::uint64_t bit(std::uint32_t member) { return std::uint64_t{1} << (member % 64); }

  std::vector<Level> levels_;  // members first, the single top word last
};

}  // namespace partita
