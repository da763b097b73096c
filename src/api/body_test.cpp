#include "api/body.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace partita::api {
namespace {

TEST(Body, AnObjectIsRead) {
  const auto json = parse_body(R"({"a":[1,"[[[[[[","\"{{{{{{"],"b":{"c":1},"d":{"c":1}})");
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_EQ((*json)["a"].size(), 3U);
}

TEST(Body, ANameThatIsThereTwiceIsRefusedAtEveryDepth) {
  for (const char* bad :
       {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":3})", R"({"times_s":{"1":2,"1":3}})",
        R"({"x":[{"a":1},{"a":1,"a":2}]})", R"({"a":1,"\u0061":2})"}) {
    const auto json = parse_body(bad);
    ASSERT_FALSE(json.ok()) << bad;
    EXPECT_NE(json.error().message.find("twice"), std::string::npos) << json.error().message;
  }
  EXPECT_TRUE(parse_body(R"({"x":[{"a":1},{"a":2}],"a":3})").ok());
}

TEST(Body, WhatIsNoObjectIsRefused) {
  for (const char* bad : {"", "[]", "3", "null", "{", "{}}", "{\"a\":}", "\"", "{\"a\":1,}"}) {
    EXPECT_FALSE(parse_body(bad).ok()) << bad;
  }
}

// Eight of these, built as a tree, took seconds; the first five brackets are enough to know.
TEST(Body, AMegabyteOfBracketsIsRefusedBeforeAnythingIsBuiltOfIt) {
  for (const std::string unit : {"[", "{\"a\":", "[{\"\":"}) {
    std::string text;
    while (text.size() < (1U << 20U)) text += unit;
    const auto begun = std::chrono::steady_clock::now();
    const auto json = parse_body(text);
    const auto took = std::chrono::steady_clock::now() - begun;
    ASSERT_FALSE(json.ok());
    EXPECT_EQ(json.error().message, "the body has brackets within brackets, more than 4 deep");
    EXPECT_LT(took, std::chrono::milliseconds(5));
  }
}

TEST(Body, SoAreMoreNamesOrValuesThanAnyRequestHas) {
  std::string names = "{\"x\":1";
  for (int i = 0; i < 300; ++i) names += ",\"" + std::to_string(i) + "\":1";
  EXPECT_FALSE(parse_body(names + "}").ok());
  std::string values = "{\"x\":[1";
  for (int i = 0; i < 200'000; ++i) values += ",1";
  EXPECT_FALSE(parse_body(values + "]}").ok());
}

}  // namespace
}  // namespace partita::api
