// ByteWriter and ByteReader: numbers and texts as few bytes, for files that only we read.
//
// Integers are varints (small ones, of either sign, take one byte), reals eight bytes, texts their
// length and bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace partita {

class ByteWriter {
 public:
  void integer(std::int64_t value) {
    auto left = static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63);
    for (; left >= 0x80; left >>= 7U) bytes_.push_back(static_cast<char>(left | 0x80U));
    bytes_.push_back(static_cast<char>(left));
  }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 0; i < 64; i += 8) bytes_.push_back(static_cast<char>(bits >> i & 0xffU));
  }
  void text(std::string_view value) {
    integer(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
  }
  void flag(bool value) { integer(value ? 1 : 0); }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Once a read fails all that follow do, and give zeros; ask good_to_the_end() before believing any.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  std::int64_t integer() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) return fail();
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= (byte & 0x7fULL) << shift;
      if (byte < 0x80) {
        return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
      }
    }
    return fail();
  }
  double real() {
    if (left_.size() < 8) return static_cast<double>(fail());
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i) {
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(left_[i])) << (8 * i);
    }
    left_.remove_prefix(8);
    return std::bit_cast<double>(bits);
  }
  std::string text() {
    const std::string_view value = left_.substr(0, count());
    left_.remove_prefix(value.size());
    return std::string(value);
  }
  bool flag() { return integer() != 0; }
  // Of things that take at least a byte each, so that a wrong number cannot ask for much memory.
  std::size_t count() {
    const std::int64_t value = integer();
    if (value >= 0 && static_cast<std::uint64_t>(value) <= left_.size()) {
      return static_cast<std::size_t>(value);
    }
    fail();
    return 0;
  }
  // An integer that must be from 0 to `most`.
  std::int64_t up_to(std::int64_t most) {
    const std::int64_t value = integer();
    return value >= 0 && value <= most ? value : fail();
  }

  bool good() const { return good_; }
  bool good_to_the_end() const { return good_ && left_.empty(); }

 private:
  std::int64_t fail() {
    good_ = false;
    left_ = {};
    return 0;
  }

  std::string_view left_;
  bool good_ = true;
};

}  // namespace partita
