// ThreadTeam: a few threads that do pieces of work together, again and again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace partita::learn {

class ThreadTeam {
 public:
  // The caller is one of them. REQUIRES: threads > 0.
  explicit ThreadTeam(std::size_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Calls work(i) once for every i below `pieces`, piece i by thread i modulo their number, and
  // returns when all are done. Which thread does a piece must not matter to the result.
  void run(std::size_t pieces, const std::function<void(std::size_t)>& work);

 private:
  void serve(std::size_t thread);
  void do_pieces(std::size_t thread) const;

  std::size_t threads_;
  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;
  bool stops_ = false;
  std::size_t pieces_ = 0;
  const std::function<void(std::size_t)>* work_ = nullptr;
};

}  // namespace partita::learn
