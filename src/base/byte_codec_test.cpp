#include "base/byte_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace partita {
namespace {

TEST(ByteCodec, WhatIsWrittenIsReadBack) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  Rng rng(1);
  ByteWriter writer;
  std::vector<std::int64_t> integers{0, 1, -1, 63, 64, -64, -65, kMost, kLeast};
  for (int i = 0; i < 1000; ++i) {
    integers.push_back(static_cast<std::int64_t>(rng.next() >> rng.below(64)));
  }
  for (const std::int64_t each : integers) writer.integer(each);
  const std::string text("a\0b\xff", 4);
  writer.text(text);
  writer.text("");
  writer.real(-0.0);
  writer.real(0.1);
  writer.flag(true);
  const std::string bytes = writer.take();
  ByteReader reader(bytes);
  for (const std::int64_t each : integers) EXPECT_EQ(reader.integer(), each);
  EXPECT_EQ(reader.text(), text);
  EXPECT_EQ(reader.text(), "");
  EXPECT_TRUE(std::signbit(reader.real()));
  EXPECT_EQ(reader.real(), 0.1);
  EXPECT_TRUE(reader.flag());
  EXPECT_TRUE(reader.good_to_the_end());
}

TEST(ByteCodec, SmallIntegersTakeOneByte) {
  for (const int value : {0, 5, -5, 63, -64}) {
    ByteWriter writer;
    writer.integer(value);
    EXPECT_EQ(writer.take().size(), 1U) << value;
  }
}

TEST(ByteCodec, WhatIsCutOrWrongIsNeverGood) {
  ByteWriter writer;
  writer.integer(100'000);
  writer.text("some text");
  writer.real(3.5);
  const std::string bytes = writer.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader reader(std::string_view(bytes).substr(0, size));
    reader.integer();
    reader.text();
    reader.real();
    EXPECT_FALSE(reader.good()) << size;
  }
  ByteReader endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11));
  endless.integer();
  EXPECT_FALSE(endless.good());
  ByteWriter huge;
  huge.integer(std::int64_t{1} << 40);
  const std::string many = huge.take();
  ByteReader counting{many};
  EXPECT_EQ(counting.count(), 0U);
  EXPECT_FALSE(counting.good());
}

}  // namespace
}  // namespace partita
