#include "base/row_sum.h"

#include <bit>

namespace partita {

void RowSum::add_bytes(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) sum_ = (sum_ ^ bytes[i]) * 0x100000001b3ULL;
}

void RowSum::add(std::int64_t value) {
  add_bytes(&value, sizeof value);
}

void RowSum::add(double value) {
  add(std::bit_cast<std::int64_t>(value));
}

void RowSum::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add_bytes(text.data(), text.size());
}

}  // namespace partita
