#include "policies/schedulers/job_queue.h"

#include <algorithm>

#include "base/check.h"

namespace partita::policies {

std::uint32_t SortedBlocks::Block::lower_bound(const QueueEntry& entry) const {
  const auto first = entries.begin() + begin;
  const auto last = entries.begin() + end;
  const auto found = std::lower_bound(
      first, last, entry, [](const QueueEntry& a, const QueueEntry& b) { return a.before(b); });
  return static_cast<std::uint32_t>(found - entries.begin());
}

void SortedBlocks::Block::insert_at(std::uint32_t at, const QueueEntry& entry) {
  const bool front_is_shorter = at - begin < end - at;
  if (begin > 0 && (front_is_shorter || end == kBlockEntries)) {
    std::move(entries.begin() + begin, entries.begin() + at, entries.begin() + begin - 1);
    --begin;
    entries[at - 1] = entry;
    return;
  }
  std::move_backward(entries.begin() + at, entries.begin() + end, entries.begin() + end + 1);
  ++end;
  entries[at] = entry;
}

void SortedBlocks::Block::erase_at(std::uint32_t at) {
  if (at - begin < end - at) {
    std::move_backward(entries.begin() + begin, entries.begin() + at, entries.begin() + at + 1);
    ++begin;
    return;
  }
  std::move(entries.begin() + at + 1, entries.begin() + end, entries.begin() + at);
  --end;
}

std::size_t SortedBlocks::block_for(const QueueEntry& entry) const {
  // The first block whose last entry is not before `entry`, or the last block.
  std::size_t low = 0;
  std::size_t high = blocks_.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const Block& block = *blocks_[middle];
    if (block.entries[block.end - 1].before(entry)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::unique_ptr<SortedBlocks::Block> SortedBlocks::new_block() {
  if (!spare_) return std::make_unique<Block>();
  std::unique_ptr<Block> block = std::move(spare_);
  block->begin = block->end = kBlockEntries / 2;
  return block;
}

void SortedBlocks::split(std::size_t index) {
  Block& full = *blocks_[index];
  std::unique_ptr<Block> upper = new_block();
  const std::uint32_t half = full.begin + full.size() / 2;
  upper->begin = kBlockEntries / 4;
  upper->end = upper->begin + (full.end - half);
  std::copy(full.entries.begin() + half, full.entries.begin() + full.end,
            upper->entries.begin() + upper->begin);
  full.end = half;
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(upper));
}

void SortedBlocks::insert(const QueueEntry& entry) {
  if (blocks_.empty()) blocks_.push_back(new_block());
  std::size_t index = block_for(entry);
  if (blocks_[index]->size() == kBlockEntries) {
    split(index);
    index = block_for(entry);
  }
  Block& block = *blocks_[index];
  block.insert_at(block.lower_bound(entry), entry);
}

void SortedBlocks::erase(const QueueEntry& entry) {
  CHECK(!blocks_.empty());
  Position position{block_for(entry), 0};
  const Block& block = *blocks_[position.block];
  position.at = block.lower_bound(entry);
  CHECK(position.at < block.end && block.entries[position.at].job == entry.job);
  erase_at(position);
}

void SortedBlocks::erase_at(Position& position) {
  Block& block = *blocks_[position.block];
  const bool from_front = position.at - block.begin < block.end - position.at;
  block.erase_at(position.at);
  if (block.size() == 0) {
    spare_ = std::move(blocks_[position.block]);
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position.block));
    position.at = at_end(position) ? 0 : blocks_[position.block]->begin;
    return;
  }
  if (from_front) ++position.at;
  if (position.at == block.end) {
    ++position.block;
    position.at = at_end(position) ? 0 : blocks_[position.block]->begin;
  }
}

JobQueue::Lane& JobQueue::lane_of(std::uint16_t fits) {
  for (Lane& lane : lanes_) {
    if (lane.fits == fits) return lane;
  }
  lanes_.emplace_back();
  lanes_.back().fits = fits;
  return lanes_.back();
}

void JobQueue::insert(const QueueEntry& entry, std::uint16_t fits) {
  lane_of(fits).entries.insert(entry);
  ++size_;
}

void JobQueue::erase(const QueueEntry& entry, std::uint16_t fits) {
  lane_of(fits).entries.erase(entry);
  --size_;
}

void JobQueue::rewind() {
  for (Lane& lane : lanes_) {
    lane.at = lane.entries.begin();
    lane.given = false;
  }
  last_ = nullptr;
}

void JobQueue::take() {
  CHECK(last_ != nullptr && last_->given);
  last_->entries.erase_at(last_->at);
  --size_;
  last_->given = false;
}

}  // namespace partita::policies
