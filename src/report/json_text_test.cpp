#include "report/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace partita::report {
namespace {

TEST(JsonText, WhatIsJsonIsRead) {
  EXPECT_EQ((*parse_json(R"({"a": [1, "[[[\"{{{"]})"))["a"][1], "[[[\"{{{");
  EXPECT_FALSE(parse_json("").ok());
  EXPECT_FALSE(parse_json("{").ok());
  EXPECT_FALSE(parse_json("[1] 2").ok());
}

TEST(JsonText, NestingHasAnEnd) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parse_json(nested(kNestingMax)).ok());
  EXPECT_FALSE(parse_json(nested(kNestingMax + 1)).ok());
  EXPECT_FALSE(parse_json(nested(1'000'000)).ok());
  // Brackets in strings do not count.
  EXPECT_TRUE(parse_json("\"" + nested(1'000) + "\"").ok());
}

}  // namespace
}  // namespace partita::report
