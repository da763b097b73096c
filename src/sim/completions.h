// Completions: when each busy slice will be done, the earliest first.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cluster/cluster_state.h"

namespace partita::sim {

using cluster::SliceId;

// An indexed heap with four children a node: two levels hold 20 slices, eight hold 80,000. Ties go
// to the lower slice, so that runs repeat.
class Completions {
 public:
  explicit Completions(std::size_t slice_count) : position_(slice_count, kAbsent) {}

  bool empty() const { return heap_.empty(); }
  Micros first_time() const { return heap_.empty() ? Micros::max() : heap_[0].time; }
  SliceId first_slice() const { return heap_[0].slice; }

  // REQUIRES: the slice is not in.
  void add(SliceId slice, Micros time);
  // REQUIRES: the slice is in.
  void remove(SliceId slice);
  void remove_first() { erase_at(0); }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  static constexpr std::uint32_t kChildren = 4;

  struct Entry {
    Micros time;
    SliceId slice;

    bool before(const Entry& other) const {
      return time != other.time ? time < other.time : slice < other.slice;
    }
  };

  void erase_at(std::uint32_t at);
  void put(std::uint32_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[entry.slice.value] = at;
  }
  void rise(std::uint32_t at, const Entry& entry);
  void sink(std::uint32_t at, const Entry& entry);

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  // by slice
};

}  // namespace partita::sim
