#include "base/fnv.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

std::uint64_t of(std::string_view text) {
  Fnv hash;
  hash.add(text);
  return hash.value();
}

// Published values of the 64-bit FNV-1a hash.
TEST(Fnv, GivesThePublishedValues) {
  EXPECT_EQ(of(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(of("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(of("foobar"), 0x85944171f73967e8ULL);
}

TEST(Fnv, ANumberIsItsBytesTheLowestFirst) {
  Fnv number;
  number.add(std::uint64_t{0x61});  // 'a'
  EXPECT_EQ(number.value(), of(std::string_view("a\0\0\0\0\0\0\0", 8)));
}

}  // namespace
}  // namespace partita
