#include "cli/flags/scenario.h"

#include <gtest/gtest.h>

#include "cli/flags/command_line.h"
#include "cli/flags/presets.h"

namespace partita::cli {
namespace {

std::string error_of(std::string_view text) {
  Values values;
  const auto info = parse_scenario(text, "mine.toml", "", values);
  return info ? "" : info.error().message;
}

TEST(Scenario, KeysSetTheirFlags) {
  Values values;
  const auto info = parse_scenario(
      "name = 'n'\ndescription = 'd'\nsource = 's'\n"
      "[cluster]\ngpu = 'h200'\ngpus = 8\n"
      "[workload]\nkind = 'papers'\nrate = 1.6\nskip_bad_rows = true\nmemory = [1, 2.5, 3, 4]\n"
      "[policy]\nschedulers = ['cedf', 'mdd']\nrepartition_cost = 'paper'\n"
      "[score]\net_a = 2.25e-5\nhorizon = 10\n",
      "mine.toml", "", values);
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->name, "n");
  EXPECT_EQ(info->description, "d");
  EXPECT_EQ(info->source, "s");
  EXPECT_EQ(values.count("gpus"), 8U);
  EXPECT_EQ(values.number("rate"), 1.6);
  EXPECT_EQ(values.number("et-a"), 2.25e-5);
  EXPECT_EQ(values.seconds("horizon"), Micros::seconds(10));
  EXPECT_TRUE(values.has_switch("skip-bad-rows"));
  EXPECT_EQ(values.text("schedulers"), "cedf,mdd");
  EXPECT_EQ(values.text("memory"), "1,2.5,3,4");
  EXPECT_EQ(values.given("gpus")->place, "mine.toml line 6, cluster.gpus");
}

TEST(Scenario, WhatIsTypedOverridesTheFile) {
  const std::vector<std::string> words{"simulate", "--gpus", "3"};
  auto command = parse_command_line(words);
  ASSERT_TRUE(command.ok());
  ASSERT_TRUE(parse_scenario("[cluster]\ngpus = 8\ngpu = 'a30'", "f", "", command->values).ok());
  EXPECT_EQ(command->values.count("gpus"), 3U);
  EXPECT_EQ(command->values.text("gpu"), "a30");
}

TEST(Scenario, UnknownKeysAreRefusedWithTheLineAndTheKnownOnes) {
  EXPECT_EQ(error_of("[cluster]\n\ngpuz = 8"),
            "mine.toml line 3: unknown key 'cluster.gpuz'; known: cluster.gpu, cluster.gpus, "
            "cluster.power");
  EXPECT_NE(error_of("title = 'x'").find("line 1: unknown key 'title'; known: name"),
            std::string::npos);
  EXPECT_NE(error_of("[[cluster]]\ngpus = 1").find("write [cluster]"), std::string::npos);
  EXPECT_NE(error_of("[wrokload]\n").find("unknown section 'wrokload'; known: cluster, workload"),
            std::string::npos);
}

TEST(Scenario, PoliciesAreAListWhoseKeysAreChecked) {
  Values values;
  ASSERT_TRUE(parse_scenario("[[policies]]\nname = 'a'\n[[policies]]\nname = 'b'\n"
                             "scheduler = 'mdd'\npreemption = 'cost=30'\n",
                             "mine.toml", "", values)
                  .ok());
  ASSERT_EQ(values.policies.size(), 2U);
  EXPECT_EQ(values.policies[1].scheduler, "mdd");
  EXPECT_EQ(values.policies[1].place, "mine.toml line 3");
  EXPECT_EQ(error_of("[[policies]]\nnam = 'a'"),
            "mine.toml line 2: unknown key 'policies.nam'; known: policies.name, "
            "policies.scheduler, policies.repartition, policies.preemption, "
            "policies.repartition_cost");
  EXPECT_EQ(error_of("[[policies]]\nscheduler = 'mdd'"),
            "mine.toml line 1: policies.name: every policy needs a name");
  EXPECT_EQ(error_of("[[policies]]\nname = 'a'\n[[policies]]\nname = 'a'"),
            "mine.toml line 3: policies.name: there are two policies 'a'");
  EXPECT_EQ(error_of("policies = 3"),
            "mine.toml line 1: policies is a list: write [[policies]] above each one");
  EXPECT_EQ(error_of("[[policies]]\nname = 7"),
            "mine.toml line 2: policies.name: wanted text in quotes");
  EXPECT_NE(error_of("[[policies]]\nname = 'a'\nscheduler = 'x'").find("line 3: policies.sched"),
            std::string::npos);
}

TEST(Scenario, WrongTypesAndValuesAreRefusedWithTheLine) {
  EXPECT_EQ(error_of("[cluster]\ngpus = '8'"),
            "mine.toml line 2: cluster.gpus: wanted a whole "
            "number");
  EXPECT_EQ(error_of("[cluster]\ngpus = 0"),
            "mine.toml line 2, cluster.gpus: found '0', wanted a whole number from 1 to 1,000,000");
  EXPECT_NE(error_of("[workload]\nrate = nan").find("line 2, workload.rate: found 'nan'"),
            std::string::npos);
  EXPECT_NE(error_of("[workload]\ndeadline = 2").find("wanted text"), std::string::npos);
  EXPECT_NE(error_of("[workload]\nskip_bad_rows = 1").find("true or false"), std::string::npos);
  EXPECT_NE(error_of("name = 3").find("wanted text in quotes"), std::string::npos);
  EXPECT_NE(error_of("[policy]\nscheduler = 'x'").find("known: edf-ss"), std::string::npos);
}

TEST(Scenario, BrokenTomlIsRefusedWithItsPlace) {
  EXPECT_TRUE(error_of("[cluster\ngpus = 1").starts_with("mine.toml line 1, column "));
  EXPECT_FALSE(error_of("a = \xff").empty());
}

TEST(Scenario, ByteOrderMarkAndCarriageReturnsAreFine) {
  EXPECT_EQ(error_of("\xEF\xBB\xBF[cluster]\r\ngpus = 2\r\n"), "");
  EXPECT_EQ(error_of(""), "");
}

TEST(Scenario, AFileOfJobsIsFoundFromTheScenariosFolder) {
  Values values;
  ASSERT_TRUE(parse_scenario("[workload]\njobs = 'j.csv'", "d/s.toml", "d", values).ok());
  EXPECT_EQ(values.text("jobs"), "d/j.csv");
  Values absolute;
  ASSERT_TRUE(parse_scenario("[workload]\njobs = '/j.csv'", "d/s.toml", "d", absolute).ok());
  EXPECT_EQ(absolute.text("jobs"), "/j.csv");
}

TEST(Presets, EachOneReadsAndSaysWhatItIs) {
  ASSERT_EQ(presets().size(), 6U);
  for (const Preset& preset : presets()) {
    Values values;
    const auto info = parse_scenario(preset.text, preset.name, "", values);
    ASSERT_TRUE(info.ok()) << info.error().message;
    EXPECT_EQ(info->name, preset.name);
    EXPECT_FALSE(info->description.empty());
    EXPECT_FALSE(info->source.empty());
    EXPECT_NE(values.given("kind"), nullptr);
    EXPECT_TRUE(load_scenario(std::string(preset.name), values).ok());
  }
}

TEST(Presets, UnknownNamesAreAnsweredWithTheKnownOnes) {
  Values values;
  const Status status = load_scenario("smart", values);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("ccgrid25, h200-calibrated, migm, realistic, smart-mig"),
            std::string::npos);
  EXPECT_FALSE(load_scenario("./none.toml", values).ok());
  EXPECT_FALSE(load_scenario("./", values).ok());
}

}  // namespace
}  // namespace partita::cli
