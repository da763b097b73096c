#include "base/parallel.h"

#include <algorithm>
#include <system_error>

#include "base/check.h"

namespace partita {

ThreadTeam::ThreadTeam(std::size_t threads) {
  CHECK(threads > 0);
  others_.reserve(threads - 1);
  while (others_.size() + 1 < threads) {
    try {
      others_.emplace_back([this, worker = others_.size() + 1] { serve(worker); });
    } catch (const std::system_error&) {
      break;
    }
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  begun_.notify_all();
  for (std::thread& other : others_) other.join();
}

void ThreadTeam::run(std::size_t count, const LoopBody& body) {
  {
    const std::lock_guard lock(mutex_);
    count_ = count;
    body_ = &body;
    next_ = 1 + others_.size();
    busy_ = others_.size();
    ++round_;
  }
  begun_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadTeam::serve(std::size_t worker) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return stops_ || round_ != seen; });
      if (stops_) return;
      seen = round_;
    }
    work(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) ended_.notify_one();
  }
}

// The first index of a worker is its own number: with as many workers as indices, loop after loop
// finds its data in the cache of the same core.
void ThreadTeam::work(std::size_t worker) {
  for (std::size_t i = worker; i < count_; i = next_++) (*body_)(i, worker);
}

void for_each_index(std::size_t count, std::size_t threads, const LoopBody& body) {
  ThreadTeam(std::clamp<std::size_t>(count, 1, threads)).run(count, body);
}

std::size_t default_threads() {
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace partita
