// JobQueue: jobs in order of a key, walked from the front, with insertion and removal anywhere.
//
// Jobs that fit the same profiles share a lane, so that a walk for a free 1g slice passes over a
// thousand jobs waiting for a whole GPU at the cost of one comparison. A lane is a list of sorted
// blocks: a short queue is one flat array, a queue of a million costs a binary search and a short
// move of memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/cluster_state.h"

namespace partita::policies {

using cluster::JobHandle;

struct QueueEntry {
  std::int64_t key = 0;
  JobId id;  // breaks ties: arrival order
  JobHandle job;

  bool before(const QueueEntry& other) const {
    return key != other.key ? key < other.key : id < other.id;
  }
};

// Sorted entries in blocks of bounded size.
class SortedBlocks {
 public:
  struct Position {
    std::size_t block = 0;
    std::uint32_t at = 0;
  };

  void insert(const QueueEntry& entry);
  // REQUIRES: the entry is there.
  void erase(const QueueEntry& entry);
  bool empty() const { return blocks_.empty(); }
  void clear() { blocks_.clear(); }

  Position begin() const { return {0, blocks_.empty() ? 0 : blocks_.front()->begin}; }
  bool at_end(Position position) const { return position.block == blocks_.size(); }
  const QueueEntry& operator[](Position position) const {
    return blocks_[position.block]->entries[position.at];
  }
  void advance(Position& position) const {
    if (++position.at < blocks_[position.block]->end) return;
    ++position.block;
    position.at = at_end(position) ? 0 : blocks_[position.block]->begin;
  }
  template <typename Condition, typename Visit>
  [[gnu::always_inline]] void for_each_while(Condition condition, Visit visit) const {
    for (const std::unique_ptr<Block>& block : blocks_) {
      for (std::uint32_t at = block->begin; at < block->end; ++at) {
        if (!condition()) return;
        visit(block->entries[at]);
      }
    }
  }
  // Removes the entry there; the position then is that of the next one.
  void erase_at(Position& position);

 private:
  static constexpr std::uint32_t kBlockEntries = 128;

  // Entries begin .. end-1 of the array; space is kept at both ends so that pops from the front
  // cost nothing and insertions move the shorter side.
  struct Block {
    std::uint32_t begin = kBlockEntries / 2;
    std::uint32_t end = kBlockEntries / 2;
    std::array<QueueEntry, kBlockEntries> entries;

    std::uint32_t size() const { return end - begin; }
    std::uint32_t lower_bound(const QueueEntry& entry) const;
    void insert_at(std::uint32_t at, const QueueEntry& entry);
    void erase_at(std::uint32_t at);
  };

  std::size_t block_for(const QueueEntry& entry) const;
  void split(std::size_t block);
  std::unique_ptr<Block> new_block();

  std::vector<std::unique_ptr<Block>> blocks_;  // none is empty
  std::unique_ptr<Block> spare_;                // the last emptied one, to be used again
};

class JobQueue {
 public:
  void insert(const QueueEntry& entry, std::uint16_t fits);
  // REQUIRES: the entry is there.
  void erase(const QueueEntry& entry, std::uint16_t fits);
  void clear() {
    lanes_.clear();
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }

  // A walk from the front: next() gives the first entry not yet seen that fits one of the profiles,
  // or null. Entries passed over because nothing of theirs was free are seen in a later call of the
  // same walk only if they come after the entry last given in their lane.
  void rewind();
  const QueueEntry* next(std::uint16_t free_profiles) {
    return next_of_many([&](std::uint16_t fits) { return (fits & free_profiles) != 0; });
  }
  // Removes the entry next() gave last.
  void take();

  // Shows the entries in order to visit(entry), those that fit nothing free passed over:
  // any_free(fits) says whether one of the profiles is. With one lane, the usual case, two nested
  // loops over arrays.
  template <typename AnyFree, typename Visit>
  [[gnu::always_inline]] void walk(AnyFree any_free, Visit visit) {
    if (lanes_.size() == 1) {
      const std::uint16_t fits = lanes_.front().fits;
      lanes_.front().entries.for_each_while([&] { return any_free(fits); }, visit);
      return;
    }
    rewind();
    while (const QueueEntry* entry = next_of_many(any_free)) visit(*entry);
  }

 private:
  struct Lane {
    std::uint16_t fits = 0;
    SortedBlocks entries;
    SortedBlocks::Position at;
    bool given = false;  // the entry at `at` was given by next() and not taken

    // The first entry not yet given, or null.
    const QueueEntry* peek() {
      if (given) entries.advance(at);
      given = false;
      return entries.at_end(at) ? nullptr : &entries[at];
    }
  };

  template <typename AnyFree>
  const QueueEntry* next_of_many(AnyFree any_free) {
    const QueueEntry* best = nullptr;
    for (Lane& lane : lanes_) {
      if (!any_free(lane.fits)) continue;
      const QueueEntry* entry = lane.peek();
      if (entry == nullptr || (best != nullptr && !entry->before(*best))) continue;
      best = entry;
      last_ = &lane;
    }
    if (best != nullptr) last_->given = true;
    return best;
  }

  Lane& lane_of(std::uint16_t fits);

  std::vector<Lane> lanes_;
  std::size_t size_ = 0;
  Lane* last_ = nullptr;
};

}  // namespace partita::policies
