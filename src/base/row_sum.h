// RowSum: the checksum of a row of a store, or of anything that is a list of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace partita {

// FNV-1a over the values of a row and their lengths: not against malice, against bits that flip.
class RowSum {
 public:
  void add(std::int64_t value);
  void add(double value);
  void add(std::string_view text);
  std::int64_t value() const { return static_cast<std::int64_t>(sum_); }

 private:
  void add_bytes(const void* data, std::size_t size);
  std::uint64_t sum_ = 0xcbf29ce484222325ULL;
};

}  // namespace partita
