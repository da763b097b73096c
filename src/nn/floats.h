// Floats: numbers that begin at a cache line.
//
// Vector code treats the numbers before the first whole vector one by one, and they then differ in
// the last bit. Where an array begins in memory must not change a result, so all begin alike.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace partita::nn {

template <typename T>
struct LineAligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAligned() = default;
  template <typename U>
  LineAligned(const LineAligned<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* at, std::size_t) { ::operator delete(at, kLine); }
  bool operator==(const LineAligned&) const { return true; }
};

using Floats = std::vector<float, LineAligned<float>>;

}  // namespace partita::nn
