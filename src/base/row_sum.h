// RowSum: the checksum of a row of a store, or of anything that is a list of values.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/fnv.h"

namespace partita {

// FNV-1a over the values of a row and their lengths: not against malice, against bits that flip.
class RowSum {
 public:
  void add(std::int64_t value) { sum_.add(static_cast<std::uint64_t>(value)); }
  void add(double value) { sum_.add(std::bit_cast<std::uint64_t>(value)); }
  void add(std::string_view text) {
    sum_.add(std::uint64_t{text.size()});
    sum_.add(text);
  }
  std::int64_t value() const { return static_cast<std::int64_t>(sum_.value()); }

 private:
  Fnv sum_;
};

}  // namespace partita
