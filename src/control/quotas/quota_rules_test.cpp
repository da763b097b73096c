#include "control/quotas/quota_rules.h"

#include <gtest/gtest.h>

namespace partita::control {
namespace {

const AccountNumbers kAccounts{
    .user = [](const std::string& name) -> std::optional<std::uint32_t> {
      if (name == "ann") return 1001;
      return {};
    },
    .group = [](const std::string& name) -> std::optional<std::uint32_t> {
      if (name == "students") return 500;
      return {};
    }};

Result<QuotaRules> parse(std::string_view text) {
  return parse_quotas(text, "quotas", kAccounts);
}

std::string error_of(std::string_view text) {
  const auto parsed = parse(text);
  return parsed ? "none" : parsed.error().message;
}

TEST(QuotaFile, HasALineForEachHolder) {
  const auto parsed = parse(
      "# who may have how much\n"
      "period month\n"
      "\n"
      "user ann  jobs=200 running=8 slices=7 3g=2 7g=0\tgpu-hours=100 joules=5e7 # until May\n"
      "group students slices=4\r\n"
      "user 77 jobs=0\n"
      "default jobs=1000");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->period, QuotaPeriod::kMonth);
  ASSERT_EQ(parsed->rules.size(), 4U);
  const QuotaRule& ann = parsed->rules[0];
  EXPECT_EQ(ann.kind, QuotaHolder::kUser);
  EXPECT_EQ(ann.id, 1001U);
  EXPECT_EQ(ann.name, "ann");
  EXPECT_EQ(ann.most, (QuotaAmounts{200, 8, 7, {{3, 2}, {7, 0}}, 100.0, 5e7}));
  EXPECT_EQ(parsed->rules[1].kind, QuotaHolder::kGroup);
  EXPECT_EQ(parsed->rules[1].id, 500U);
  EXPECT_EQ(parsed->rules[1].most.slices, 4);
  EXPECT_EQ(parsed->rules[2].id, 77U);
  EXPECT_EQ(parsed->rules[3].kind, QuotaHolder::kDefault);
}

TEST(QuotaFile, OfNothingHasNoQuotas) {
  const auto parsed = parse("# later\n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->any());
  EXPECT_EQ(parsed->period, QuotaPeriod::kWeek);
}

TEST(QuotaFile, ErrorsNameTheLineAndWhatWasWanted) {
  EXPECT_EQ(error_of("\nusr ann jobs=1"),
            "quotas:2: 'usr' begins no line; wanted user, group, default or period");
  EXPECT_EQ(error_of("user ann"),
            "quotas:1: user ann is all of the line; wanted amounts, for example slices=7");
  EXPECT_EQ(error_of("group"),
            "quotas:1: group is all of the line; wanted a name and amounts, for example slices=7");
  EXPECT_EQ(error_of("user bob jobs=1"), "quotas:1: this machine has no user 'bob'");
  EXPECT_EQ(error_of("group ann jobs=1"), "quotas:1: this machine has no group 'ann'");
  EXPECT_EQ(error_of("user ann slots=1"),
            "quotas:1: 'slots=1' is no amount; wanted NAME=NUMBER with one of the names jobs, "
            "running, slices, 1g, 2g, 3g, 4g, 7g, gpu-hours, joules");
  EXPECT_EQ(error_of("default jobs=-1"),
            "quotas:1: jobs is '-1'; wanted a whole number from 0 to 1000000000");
  EXPECT_EQ(error_of("default joules=inf"),
            "quotas:1: joules is 'inf'; wanted a number from 0 to "
            "1e+18");
  EXPECT_EQ(error_of("default 3g=1 3g=2"), "quotas:1: 3g is there twice");
  EXPECT_EQ(error_of("default jobs=1 jobs=2"), "quotas:1: jobs is there twice");
  EXPECT_EQ(error_of("user ann jobs=1\nuser 1001 jobs=2"),
            "quotas:2: user 1001 has a line already, line 1");
  EXPECT_EQ(error_of("default jobs=1\ndefault jobs=2"),
            "quotas:2: default has a line already, line 1");
  EXPECT_EQ(error_of("period fortnight"),
            "quotas:1: period is 'fortnight'; wanted one of day, week, month");
  EXPECT_EQ(error_of("period day\nperiod day"), "quotas:2: the period is given already, in line 1");
  EXPECT_EQ(error_of("user -3 jobs=1"),
            "quotas:1: user -3; wanted a name or a number from 0 to 4294967294");
}

TEST(QuotaPeriods, FollowEachOtherWithoutAGap) {
  constexpr std::int64_t kDay = 86'400;
  const Micros monday = Micros::seconds(20'773 * kDay);  // 2026-11-16
  EXPECT_EQ(start_of(QuotaPeriod::kWeek, monday), monday);
  EXPECT_EQ(start_of(QuotaPeriod::kWeek, monday + Micros::seconds(7 * kDay) - Micros{1}), monday);
  EXPECT_EQ(start_of(QuotaPeriod::kWeek, monday - Micros{1}), monday - Micros::seconds(7 * kDay));
  EXPECT_EQ(start_of(QuotaPeriod::kDay, monday + Micros::seconds(3'600)), monday);
  EXPECT_EQ(start_of(QuotaPeriod::kMonth, Micros::seconds(31 * kDay)), Micros::seconds(30 * kDay));
  EXPECT_EQ(start_of(QuotaPeriod::kWeek, Micros{0}), Micros::seconds(-3 * kDay));
}

}  // namespace
}  // namespace partita::control
