#include "policies/schedulers/job_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace partita::policies {
namespace {

using Key = std::pair<std::int64_t, std::uint32_t>;  // key, id

QueueEntry entry(std::int64_t key, std::uint32_t id) {
  return {key, JobId{id}, JobHandle{id}};
}

std::vector<Key> contents(const SortedBlocks& blocks) {
  std::vector<Key> all;
  for (auto at = blocks.begin(); !blocks.at_end(at); blocks.advance(at)) {
    all.emplace_back(blocks[at].key, blocks[at].id.value);
  }
  return all;
}

TEST(SortedBlocks, EqualKeysGoInOrderOfArrival) {
  SortedBlocks blocks;
  blocks.insert(entry(5, 2));
  blocks.insert(entry(5, 1));
  blocks.insert(entry(4, 9));
  EXPECT_EQ(contents(blocks), (std::vector<Key>{{4, 9}, {5, 1}, {5, 2}}));
}

// Inserts and erases at random, at one end, or everywhere, against a sorted set.
void compare_with_a_set(std::uint64_t seed, std::size_t size_max, std::int64_t key_range) {
  Rng rng(seed);
  SortedBlocks blocks;
  std::set<Key> expected;
  std::uint32_t next_id = 0;
  for (int step = 0; step < 6'000; ++step) {
    const bool grow = expected.size() < size_max && (expected.empty() || rng.below(5) < 3);
    if (grow) {
      const Key key{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(key_range))),
                    next_id++};
      blocks.insert(entry(key.first, key.second));
      expected.insert(key);
    } else if (rng.below(2) == 0) {
      const auto front = expected.begin();
      auto at = blocks.begin();
      blocks.erase_at(at);
      expected.erase(front);
      ASSERT_EQ(blocks.at_end(at), expected.empty());
      if (!expected.empty()) {
        ASSERT_EQ(Key(blocks[at].key, blocks[at].id.value), *expected.begin());
      }
    } else {
      const auto some =
          std::next(expected.begin(), static_cast<std::ptrdiff_t>(rng.below(expected.size())));
      blocks.erase(entry(some->first, some->second));
      expected.erase(some);
    }
    ASSERT_EQ(blocks.empty(), expected.empty());
    if (step % 50 != 0) continue;
    ASSERT_EQ(contents(blocks), std::vector<Key>(expected.begin(), expected.end()));
  }
}

TEST(SortedBlocks, AreASortedSetWhateverIsDone) {
  compare_with_a_set(1, 10, 5);
  compare_with_a_set(2, 130, 1'000);
  compare_with_a_set(3, 2'000, 1'000'000);
  compare_with_a_set(4, 2'000, 3);
}

TEST(SortedBlocks, TakeEntriesInAnyOrderOfKeys) {
  for (const bool rising : {true, false}) {
    SortedBlocks blocks;
    std::vector<Key> expected;
    for (std::uint32_t i = 0; i < 1'000; ++i) {
      blocks.insert(entry(rising ? i : 1'000 - i, i));
      expected.emplace_back(rising ? i : 1'000 - i, i);
    }
    std::ranges::sort(expected);
    EXPECT_EQ(contents(blocks), expected);
  }
}

TEST(JobQueue, AWalkGivesEntriesInOrderAcrossLanes) {
  JobQueue queue;
  queue.insert(entry(3, 0), 0b01);
  queue.insert(entry(1, 1), 0b10);
  queue.insert(entry(2, 2), 0b11);
  queue.rewind();
  EXPECT_EQ(queue.next(0b11)->id, JobId{1});
  EXPECT_EQ(queue.next(0b11)->id, JobId{2});
  EXPECT_EQ(queue.next(0b11)->id, JobId{0});
  EXPECT_EQ(queue.next(0b11), nullptr);
}

TEST(JobQueue, AWalkPassesOverWhatFitsNothingFree) {
  JobQueue queue;
  queue.insert(entry(1, 0), 0b01);
  queue.insert(entry(2, 1), 0b10);
  queue.insert(entry(3, 2), 0b01);
  queue.rewind();
  EXPECT_EQ(queue.next(0b10)->id, JobId{1});
  EXPECT_EQ(queue.next(0b10), nullptr);
}

TEST(JobQueue, TakingRemovesTheEntryGivenLast) {
  JobQueue queue;
  for (std::uint32_t i = 0; i < 4; ++i) queue.insert(entry(i, i), i % 2 == 0 ? 0b01 : 0b10);
  queue.rewind();
  queue.next(0b11);
  queue.next(0b11);
  queue.take();
  queue.rewind();
  std::vector<std::uint32_t> left;
  while (const QueueEntry* each = queue.next(0b11)) left.push_back(each->id.value);
  EXPECT_EQ(left, (std::vector<std::uint32_t>{0, 2, 3}));
}

// Walks with takes and shrinking free profiles, against one sorted list.
TEST(JobQueue, WalksAsASortedListWould) {
  Rng rng(17);
  JobQueue queue;
  std::map<Key, std::uint16_t> expected;
  std::uint32_t next_id = 0;
  for (int round = 0; round < 3'000; ++round) {
    for (std::uint64_t i = rng.below(4); i > 0; --i) {
      const Key key{static_cast<std::int64_t>(rng.below(50)), next_id++};
      const auto fits = static_cast<std::uint16_t>(1 + rng.below(15));
      queue.insert(entry(key.first, key.second), fits);
      expected.emplace(key, fits);
    }
    if (!expected.empty() && rng.below(3) == 0) {
      const auto some =
          std::next(expected.begin(), static_cast<std::ptrdiff_t>(rng.below(expected.size())));
      queue.erase(entry(some->first.first, some->first.second), some->second);
      expected.erase(some);
    }
    queue.rewind();
    auto free = static_cast<std::uint16_t>(rng.below(16));
    for (auto at = expected.begin(); at != expected.end();) {
      if ((at->second & free) == 0) {
        ++at;
        continue;
      }
      const QueueEntry* given = queue.next(free);
      ASSERT_NE(given, nullptr);
      ASSERT_EQ(Key(given->key, given->id.value), at->first);
      if (rng.below(2) == 0) {
        queue.take();
        at = expected.erase(at);
      } else {
        ++at;
      }
      free = static_cast<std::uint16_t>(free & ~rng.below(4));
    }
    ASSERT_EQ(queue.next(free), nullptr);
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

}  // namespace
}  // namespace partita::policies
