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

void ThreadTeam::run(std::size_t count, const LoopBody& body, const LoopStop& stop) {
  {
    const std::lock_guard lock(mutex_);
    count_ = count;
    body_ = &body;
    stop_ = &stop;
    next_ = 0;
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

void ThreadTeam::work(std::size_t worker) {
  while (!*stop_ || !(*stop_)()) {
    const std::size_t i = next_++;
    if (i >= count_) return;
    (*body_)(i, worker);
  }
}

void for_each_index(std::size_t count, std::size_t threads, const LoopBody& body,
                    const LoopStop& stop) {
  ThreadTeam(std::clamp<std::size_t>(count, 1, threads)).run(count, body, stop);
}

std::size_t default_threads() {
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace partita
