#include "cli/flags/live_values.h"

#include <gtest/gtest.h>

#include "cli/flags/command_line.h"

namespace partita::cli {
namespace {

TEST(LiveValues, MemoryHasAUnitOrIsAuto) {
  EXPECT_EQ(parse_memory("10G")->value(), 10);
  EXPECT_EQ(parse_memory("512M")->value(), 0.5);
  EXPECT_EQ(parse_memory("2.5GiB")->value(), 2.5);
  EXPECT_FALSE(parse_memory("auto")->has_value());
  for (const char* bad : {"", "10", "G", "0G", "-1G", "1e999G", "10T", "10G "}) {
    EXPECT_FALSE(parse_memory(bad).ok()) << bad;
  }
}

TEST(LiveValues, TimesAddUpTheirParts) {
  EXPECT_EQ(*parse_time_span("90"), Micros::seconds(90));
  EXPECT_EQ(*parse_time_span("1h30m"), Micros::seconds(5'400));
  EXPECT_EQ(*parse_time_span("2d"), Micros::seconds(172'800));
  for (const char* bad : {"", "m", "1x", "0", "-5", "1h-3m"}) {
    EXPECT_FALSE(parse_time_span(bad).ok()) << bad;
  }
}

TEST(LiveValues, DeadlinesAreFromNowOrInstants) {
  const Micros now = Micros::seconds(1'000);
  EXPECT_EQ(parse_deadline("+2h")->at(now), Micros::seconds(8'200));
  EXPECT_EQ(parse_deadline("1970-01-02T00:00:01Z")->at(now), Micros::seconds(86'401));
  EXPECT_EQ(parse_deadline("2024-02-29T00:00")->at(now), Micros::seconds(1'709'164'800));
  for (const char* bad : {"2h", "2026-13-01T00:00Z", "2025-02-29T00:00Z", "2026-11-15", "+", ""}) {
    EXPECT_FALSE(parse_deadline(bad).ok()) << bad;
  }
  EXPECT_EQ(shown_instant(1'709'164'800), "2024-02-29 00:00:00Z");
}

TEST(LiveValues, SizesJobsAndCommandsAreRead) {
  const auto times = parse_slice_times("1g=20m,7g=5m");
  ASSERT_TRUE(times.ok());
  EXPECT_EQ((*times)[1], std::pair(7, Micros::seconds(300)));
  EXPECT_FALSE(parse_slice_times("5g=20m").ok());
  EXPECT_FALSE(parse_slice_times("1g=5m,1g=6m").ok());
  EXPECT_EQ(*parse_job_numbers("12,14-16"), (std::vector<std::int64_t>{12, 14, 15, 16}));
  EXPECT_FALSE(parse_job_numbers("1-10000000").ok());
  EXPECT_FALSE(parse_job_numbers("0").ok());
  EXPECT_EQ(*parse_after("12\n14-15:any,7:ok"),
            (std::vector<std::string>{"12:ok", "14:any", "15:any", "7:ok"}));
  for (const char* wrong : {"", "12:never", "12:", "x", "12,"}) {
    EXPECT_FALSE(parse_after(wrong).ok()) << wrong;
  }
  EXPECT_EQ(*parse_priority("-5"), -5);
  EXPECT_FALSE(parse_priority("1000001").ok());
  EXPECT_FALSE(parse_priority("high").ok());
  EXPECT_EQ(parse_array("100%8")->jobs, 100U);
  EXPECT_EQ(parse_array("100%8")->limit, 8U);
  EXPECT_FALSE(parse_array("100")->limit);
  for (const char* wrong : {"0", "10001", "5%0", "5%", "%5", "x", "1.5"}) {
    EXPECT_FALSE(parse_array(wrong).ok()) << wrong;
  }
  EXPECT_EQ(*split_command("save 'a b' \"c\\\"d\" e\\ f"),
            (std::vector<std::string>{"save", "a b", "c\"d", "e f"}));
  EXPECT_FALSE(split_command("save 'a").ok());
  EXPECT_FALSE(split_command("  ").ok());
}

TEST(LiveValues, WhatFollowsTwoDashesIsTheUsersOwn) {
  const std::vector<std::string> words{"submit", "--env", "A=1",   "--env",    "B=2 3",
                                       "--",     "prog",  "--mem", "nonsense", "--"};
  const auto command = parse_command_line(words);
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->values.command, (std::vector<std::string>{"prog", "--mem", "nonsense", "--"}));
  EXPECT_EQ(command->values.text("env"), "A=1\nB=2 3");
}

}  // namespace
}  // namespace partita::cli
