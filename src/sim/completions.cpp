#include "sim/completions.h"

#include <algorithm>

namespace partita::sim {

void Completions::add(JobHandle job, Micros time) {
  if (job.value >= position_.size()) position_.resize(std::size_t{job.value} * 2 + 16);
  heap_.emplace_back();
  rise(static_cast<std::uint32_t>(heap_.size() - 1), {time, job});
}

void Completions::erase_at(std::uint32_t at) {
  const Entry moved = heap_.back();
  heap_.pop_back();
  if (at < heap_.size()) settle(at, moved);
}

void Completions::settle(std::uint32_t at, const Entry& entry) {
  if (at > 0 && entry.before(heap_[(at - 1) / kChildren])) {
    rise(at, entry);
  } else {
    sink(at, entry);
  }
}

void Completions::rise(std::uint32_t at, const Entry& entry) {
  while (at > 0) {
    const std::uint32_t parent = (at - 1) / kChildren;
    if (!entry.before(heap_[parent])) break;
    put(at, heap_[parent]);
    at = parent;
  }
  put(at, entry);
}

void Completions::sink(std::uint32_t at, const Entry& entry) {
  const auto size = static_cast<std::uint32_t>(heap_.size());
  while (true) {
    const std::uint32_t first = at * kChildren + 1;
    if (first >= size) break;
    std::uint32_t least = first;
    const std::uint32_t last = std::min(first + kChildren, size);
    for (std::uint32_t child = first + 1; child < last; ++child) {
      if (heap_[child].before(heap_[least])) least = child;
    }
    if (!heap_[least].before(entry)) break;
    put(at, heap_[least]);
    at = least;
  }
  put(at, entry);
}

}  // namespace partita::sim
