// for_each_index: a loop on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace partita::experiment {

// work(i) for every i below count, in any order, on so many threads.
void for_each_index(std::size_t count, std::size_t threads,
                    const std::function<void(std::size_t)>& work);

}  // namespace partita::experiment
