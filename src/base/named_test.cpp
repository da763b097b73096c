#include "base/named.h"

#include <gtest/gtest.h>

#include <array>

namespace partita {
namespace {

struct Row {
  std::string_view name;
  int value;
};
constexpr std::array kRows{Row{"one", 1}, Row{"two", 2}};

TEST(Named, ARowIsFoundInItsTable) {
  const auto found = find_named("number", "two", kRows, &Row::name);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, &kRows[1]);
}

TEST(Named, TheErrorListsAllNamesInTheOrderOfTheTable) {
  const auto found = find_named("number", "three", kRows, &Row::name);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "unknown number 'three'; known: one, two");
}

TEST(Named, NamesMayBeMadeFromRows) {
  const auto name = [](const Row& row) { return std::to_string(row.value); };
  EXPECT_EQ((*find_named("number", "1", kRows, name))->name, "one");
}

}  // namespace
}  // namespace partita
