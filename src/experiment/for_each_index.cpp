#include "experiment/for_each_index.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace partita::experiment {

void for_each_index(std::size_t count, std::size_t threads,
                    const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(loop);
  loop();
}

}  // namespace partita::experiment
