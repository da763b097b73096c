// Fnv: the 64-bit FNV-1a hash, the same on every machine. Against flipped bits, not against malice.
#pragma once

#include <cstdint>
#include <string_view>

namespace partita {

class Fnv {
 public:
  constexpr void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }
  // Its eight bytes, the lowest first.
  constexpr void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(static_cast<std::uint8_t>(number >> shift));
  }
  constexpr void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace partita
