// Loops on several threads: for_each_index() for one loop, ThreadTeam for many short ones.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace partita {

// The body of a loop. Indices are begun in their order and end in any. Workers are numbered from 0;
// no two threads have the same number, so what stands at [worker] needs no lock. Who does an index
// must not matter to the result.
using LoopBody = std::function<void(std::size_t index, std::size_t worker)>;
// Whether no further index is to be begun; asked by every worker before it takes one, so that all
// before the last that was begun are done. Empty: never.
using LoopStop = std::function<bool()>;

// Threads that stay between loops: a loop of microseconds cannot pay for starting them.
class ThreadTeam {
 public:
  // The caller is worker 0. Where the system gives no more threads there are fewer workers.
  // REQUIRES: threads > 0.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Calls body(i, worker) once for every i below `count` and returns when all are done.
  void run(std::size_t count, const LoopBody& body, const LoopStop& stop = {});

 private:
  void serve(std::size_t worker);
  void work(std::size_t worker);

  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;
  bool stops_ = false;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;
  const LoopBody* body_ = nullptr;
  const LoopStop* stop_ = nullptr;
};

// One loop on at most so many threads. REQUIRES: threads > 0.
void for_each_index(std::size_t count, std::size_t threads, const LoopBody& body,
                    const LoopStop& stop = {});

// The number of threads when nobody asked for another: one a processor.
std::size_t default_threads();

}  // namespace partita
