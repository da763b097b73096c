#include "learn/thread_team.h"

#include "base/check.h"

namespace partita::learn {

ThreadTeam::ThreadTeam(std::size_t threads) : threads_(threads) {
  CHECK(threads > 0);
  for (std::size_t i = 1; i < threads; ++i) {
    others_.emplace_back([this, i] { serve(i); });
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

void ThreadTeam::run(std::size_t pieces, const std::function<void(std::size_t)>& work) {
  {
    const std::lock_guard lock(mutex_);
    pieces_ = pieces;
    work_ = &work;
    busy_ = others_.size();
    ++round_;
  }
  begun_.notify_all();
  do_pieces(0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadTeam::serve(std::size_t thread) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return stops_ || round_ != seen; });
      if (stops_) return;
      seen = round_;
    }
    do_pieces(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) ended_.notify_one();
  }
}

void ThreadTeam::do_pieces(std::size_t thread) const {
  for (std::size_t i = thread; i < pieces_; i += threads_) (*work_)(i);
}

}  // namespace partita::learn
