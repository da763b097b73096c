#include "base/record.h"

#include <gtest/gtest.h>

#include <string>

#include "base/record_text.h"

namespace partita {
namespace {

struct Part {
  std::uint8_t a = 0;
  GpuId gpu{0};

  static auto parts(auto& part) { return std::tie(part.a, part.gpu); }
  bool operator==(const Part&) const = default;
};

// Before and after two fields were added.
struct Older {
  std::int64_t key = 0;
  std::string text;
  std::vector<Part> list;
  std::optional<double> real;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "key", .encoding = Encoding::kKey}, self.key);
    visit_named(visit, "text", self.text, "list", self.list, "real", self.real);
  }
  bool operator==(const Older&) const = default;
};

struct Newer : Older {
  Micros tail;
  std::optional<std::string> note;
  std::int64_t rank = 0;

  static void fields(auto& self, auto&& visit) {
    Older::fields(self, visit);
    visit(Field{.name = "tail", .encoding = Encoding::kTail}, self.tail);
    visit(Field{.name = "note", .encoding = Encoding::kNamed}, self.note);
    visit(Field{.name = "rank", .most = 9, .encoding = Encoding::kNamed}, self.rank);
  }
  bool operator==(const Newer&) const = default;
};

// Texts with a bar behind each.
struct Bars {
  void put(std::string_view each) { text += std::string(each) + "|"; }
  std::optional<std::string_view> next() {
    const auto bar = text.find('|', at);
    if (bar == std::string::npos) return {};
    const std::string_view each = std::string_view(text).substr(at, bar - at);
    at = bar + 1;
    return each;
  }
  bool at_end() const { return at == text.size(); }

  std::string text;
  std::size_t at = 0;
};

template <typename R>
std::string text_of(const R& record) {
  Bars bars;
  for (const Encoding encoding : {Encoding::kPositional, Encoding::kTail, Encoding::kNamed}) {
    R::fields(record, TextWriter(bars, encoding));
  }
  return bars.text;
}

template <typename R>
std::optional<R> read(const std::string& text) {
  Bars bars{text};
  TextReader reader(bars);
  R record;
  reader.read(record, Encoding::kPositional);
  if (!bars.at_end()) reader.read(record, Encoding::kTail);
  reader.read(record, Encoding::kNamed);
  if (!reader.good_to_the_end()) return {};
  return record;
}

Newer some_record() {
  Newer record;
  record.text = "a b";
  record.list = {{1, GpuId{2}}, {3, GpuId{4}}};
  return record;
}

TEST(Record, ATextHasTheFieldsInOrderAndThoseAddedLaterByNameWhereTheyAreUsed) {
  Newer record = some_record();
  record.key = 7;  // not in the text
  EXPECT_EQ(text_of(record), "a b|4|1|2|3|4||0|");
  record.real = 0.5;
  record.tail = Micros{6};
  record.rank = 5;
  EXPECT_EQ(text_of(record), "a b|4|1|2|3|4|0.5|6|rank|5|");
  record.note = "";
  EXPECT_EQ(text_of(record), "a b|4|1|2|3|4|0.5|6|note||rank|5|");
  record.key = 0;
  EXPECT_EQ(read<Newer>(text_of(record)), record);
}

TEST(Record, ATextOfBeforeAFieldWasAddedIsRead) {
  const Newer record = some_record();
  EXPECT_EQ(read<Newer>(text_of<Older>(record)), record);
  EXPECT_EQ(read<Newer>(text_of(record) + "rank|9|")->rank, 9);
}

TEST(Record, WhatIsUnknownCutOrOutOfRangeIsRefused) {
  const std::string good = text_of(some_record());
  for (const char* bad : {"surprise|1|", "rank|", "rank|10|", "rank|-1|", "rank|x|", "rank|1|x|"}) {
    EXPECT_FALSE(read<Newer>(good + bad)) << bad;
  }
  for (const char* bad : {"", "a|", "a|3|1|2|3||", "a|-2||", "a|99999999999|1|2||", "a|0|x|"}) {
    EXPECT_FALSE(read<Newer>(bad)) << bad;
  }
}

template <typename R>
std::int64_t sum(const R& record) {
  RowSum sum;
  SumFields(sum).add(record);
  return sum.value();
}

struct Wider : Older {
  std::int64_t left = 0;
  std::int64_t right = 0;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "key"}, self.key);
    visit(Field{.name = "left", .encoding = Encoding::kNamed}, self.left);
    visit(Field{.name = "right", .encoding = Encoding::kNamed}, self.right);
    visit(Field{.name = "unsaid", .digest = false}, self.text);
  }
};

// As rows and digests on disk need it.
TEST(Record, AFieldThatIsAddedChangesASumOnlyWhereItIsUsed) {
  Wider record;
  record.key = 3;
  RowSum plain;
  plain.add(std::int64_t{3});
  EXPECT_EQ(sum(record), plain.value());
  record.text = "in no digest";
  EXPECT_EQ(sum(record), plain.value());
  record.left = 1;
  const std::int64_t left = sum(record);
  std::swap(record.left, record.right);
  EXPECT_NE(left, plain.value());
  EXPECT_NE(sum(record), left) << "the same value in another field";
}

TEST(Record, ItIsKnownWhetherAnyFieldThatWasAddedIsUsed) {
  Newer record = some_record();
  EXPECT_TRUE(uses(record, Encoding::kPositional));
  EXPECT_FALSE(uses(record, Encoding::kTail) || uses(record, Encoding::kNamed));
  record.note = "";
  EXPECT_TRUE(uses(record, Encoding::kNamed));
}

}  // namespace
}  // namespace partita
