#include "control/quotas/quotas.h"

#include <gtest/gtest.h>

namespace partita::control {
namespace {

constexpr Micros kMonday = Micros::seconds(20'773 * std::int64_t{86'400});
constexpr launch::Owner kAnn{1001, 500};
constexpr launch::Owner kBob{1002, 500};

class QuotaBooks : public testing::Test {
 protected:
  Quotas& with(std::string_view text) {
    const AccountNumbers none{.user = [](const std::string&) { return std::nullopt; },
                              .group = [](const std::string&) { return std::nullopt; }};
    const auto rules = parse_quotas(text, "quotas", none);
    EXPECT_TRUE(rules.ok());
    quotas_.emplace(*rules, model_, 2);
    quotas_->set_time(kMonday);
    return *quotas_;
  }

  // An attempt that began so many seconds after Monday, and ended unless `to` is 0.
  static store::AttemptRow attempt(const char* profile, std::int64_t from, std::int64_t to = 0) {
    store::AttemptRow row;
    row.profile = profile;
    row.started_us = (kMonday + Micros::seconds(from)).count;
    if (to != 0) row.ended_us = (kMonday + Micros::seconds(to)).count;
    return row;
  }
  void set_time(std::int64_t seconds) { quotas_->set_time(kMonday + Micros::seconds(seconds)); }
  bool may_start(const launch::Owner& owner, const char* profile) {
    quotas_->enter(owner);
    return quotas_->may_start(owner, *mig::parse_profile(model_, profile));
  }
  std::string why_not(const launch::Owner& owner, const char* profile) {
    const auto fits = static_cast<std::uint16_t>(1U << *mig::parse_profile(model_, profile));
    for (const Quotas::Holder holder : quotas_->enter(owner)) {
      if ((quotas_->startable(holder) & fits) == 0)
        return quotas_->account(holder).why_not(fits, quotas_->clock());
    }
    return "";
  }
  double used(const launch::Owner& owner, std::string_view amount) {
    for (const QuotaLine& line : quotas_->lines_of(owner)) {
      for (const QuotaUse& use : line.uses) {
        if (use.amount == amount) return use.used;
      }
    }
    return -1;
  }

  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  std::optional<Quotas> quotas_;
};

TEST_F(QuotaBooks, WithoutRulesLetEverythingStart) {
  with("");
  EXPECT_FALSE(quotas_->any());
  EXPECT_TRUE(may_start(kAnn, "7g.40gb"));
  EXPECT_EQ(quotas_->no_room_for(kAnn, 1'000'000), std::nullopt);
  EXPECT_EQ(quotas_->next_time(), Micros::max());
}

TEST_F(QuotaBooks, SlicesAreThoseHeldAtOnce) {
  with("user 1001 slices=7");
  quotas_->begin(kAnn, attempt("4g.20gb", 0));
  EXPECT_TRUE(may_start(kAnn, "3g.20gb"));
  EXPECT_FALSE(may_start(kAnn, "4g.20gb"));
  EXPECT_EQ(why_not(kAnn, "4g.20gb"), "quota: user 1001 holds 4 of 7 slices, and this needs 4");
  quotas_->begin(kAnn, attempt("3g.20gb", 0));
  EXPECT_EQ(why_not(kAnn, "1g.5gb"), "quota: user 1001 holds 7 of 7 slices");
  EXPECT_TRUE(may_start(kBob, "7g.40gb")) << "others have no limit";
  quotas_->end(kAnn, attempt("4g.20gb", 0, 10));
  EXPECT_TRUE(may_start(kAnn, "4g.20gb"));
}

TEST_F(QuotaBooks, SizesAreCountedApart) {
  with("user 1001 1g=1 7g=0");
  quotas_->begin(kAnn, attempt("1g.5gb", 0));
  EXPECT_EQ(why_not(kAnn, "1g.5gb"), "quota: user 1001 holds 1 of 1 instances of 1g");
  EXPECT_FALSE(may_start(kAnn, "1g.5gb+me")) << "of the same size";
  EXPECT_TRUE(may_start(kAnn, "2g.10gb"));
  EXPECT_EQ(why_not(kAnn, "7g.40gb"),
            "quota: user 1001 may hold no slice that fits, and the smallest is 7g.40gb: 7g=0");
}

TEST_F(QuotaBooks, GroupsAndUsersHoldBoth) {
  with("user 1001 slices=7\ngroup 500 running=1");
  quotas_->begin(kBob, attempt("1g.5gb", 0));
  EXPECT_EQ(why_not(kAnn, "1g.5gb"), "quota: group 500 has 1 of 1 running jobs");
  EXPECT_FALSE(may_start(kAnn, "1g.5gb"));
  EXPECT_TRUE(may_start({1001, 9}, "1g.5gb")) << "in another group";
}

TEST_F(QuotaBooks, TheDefaultIsForEachUserWithoutALine) {
  with("user 1001 jobs=5\ndefault jobs=2");
  for (int i = 0; i < 2; ++i) quotas_->add_job(kBob);
  EXPECT_EQ(quotas_->no_room_for(kBob, 1),
            "quota: user 1002 may have at most 2 jobs in the queue, has 2 and asks for 1");
  EXPECT_EQ(quotas_->no_room_for({1003, 1}, 2), std::nullopt);
  EXPECT_EQ(quotas_->no_room_for(kAnn, 5), std::nullopt);
  EXPECT_TRUE(quotas_->no_room_for(kAnn, 6).has_value());
  quotas_->remove_job(kBob);
  EXPECT_EQ(quotas_->no_room_for(kBob, 1), std::nullopt);
  EXPECT_EQ(used({1009, 1}, "jobs"), 0) << "somebody who never had a job sees their limit too";
}

TEST_F(QuotaBooks, GpuHoursGrowAsJobsRunAndBeginAnewWithThePeriod) {
  with("user 1001 gpu-hours=2");
  quotas_->add_job(kAnn);
  quotas_->begin(kAnn, attempt("7g.40gb", 0));
  EXPECT_EQ(quotas_->next_time(), kMonday + Micros::seconds(7'200));
  set_time(3'600);
  EXPECT_DOUBLE_EQ(used(kAnn, "gpu-hours"), 1);
  quotas_->end(kAnn, attempt("7g.40gb", 0, 3'600));
  quotas_->begin(kAnn, attempt("7g.40gb", 3'600));
  quotas_->take_changed_holders();
  set_time(7'200);
  EXPECT_EQ(quotas_->take_changed_holders().size(), 1U);
  EXPECT_EQ(why_not(kAnn, "1g.5gb"),
            "quota: user 1001 used 2 of 2 GPU-hours until 2026-11-23 00:00Z");
  EXPECT_EQ(quotas_->next_time(), kMonday + Micros::seconds(7 * 86'400)) << "the next period";
  set_time(7 * 86'400 + 1'800);
  EXPECT_DOUBLE_EQ(used(kAnn, "gpu-hours"), 0.5) << "what goes on counts from the new period on";
  EXPECT_TRUE(may_start(kAnn, "1g.5gb"));
}

TEST_F(QuotaBooks, WhoBeganToWaitHearsOfAChangeBackToWhatWasBefore) {
  with("user 1001 running=1");
  quotas_->add_job(kAnn);
  const Quotas::Holder ann = *quotas_->holders_of(kAnn).begin();
  EXPECT_TRUE(quotas_->take_changed_holders().empty());
  quotas_->begin(kAnn, attempt("7g.40gb", 0));
  quotas_->note_wait(ann);  // a job is barred now
  quotas_->end(kAnn, attempt("7g.40gb", 0, 60));
  EXPECT_EQ(quotas_->take_changed_holders(), std::vector{ann});
  EXPECT_TRUE(quotas_->take_changed_holders().empty());
}

TEST_F(QuotaBooks, AnAttemptThatEndedBeforeThePeriodCountsForNothing) {
  with("user 1001 gpu-hours=2");
  quotas_->begin(kAnn, attempt("7g.40gb", -7'200));
  set_time(60);
  quotas_->end(kAnn, attempt("7g.40gb", -7'200, -60));
  EXPECT_EQ(used(kAnn, "gpu-hours"), 0);
}

TEST_F(QuotaBooks, JoulesAreThoseOfThePeriod) {
  with("period day\ngroup 500 joules=100");
  quotas_->add_joules(kAnn, 60);
  EXPECT_TRUE(may_start(kBob, "1g.5gb"));
  quotas_->add_joules(kBob, 60);
  EXPECT_EQ(why_not(kAnn, "1g.5gb"), "quota: group 500 used 120 of 100 J until 2026-11-17 00:00Z");
  set_time(86'400);
  EXPECT_TRUE(may_start(kAnn, "1g.5gb"));
}

TEST_F(QuotaBooks, WhatCanNeverStartIsNamed) {
  with(
      "user 1001 slices=3\nuser 1002 gpu-hours=0\nuser 1003 running=0\nuser 1004 joules=0\n"
      "user 1005 slices=1");
  const auto fits = static_cast<std::uint16_t>(1U << *mig::parse_profile(model_, "7g.40gb"));
  EXPECT_EQ(quotas_->never(kAnn, fits),
            "quota: user 1001 may hold 3 slices, and the smallest that fits, 7g.40gb, has 7");
  EXPECT_EQ(quotas_->never({1005, 1}, fits),
            "quota: user 1005 may hold 1 slice, and the smallest that fits, 7g.40gb, has 7");
  EXPECT_EQ(quotas_->never(kAnn, 0xff), std::nullopt) << "a smaller one will do";
  EXPECT_EQ(quotas_->never(kBob, fits), "quota: user 1002 may use no GPU: gpu-hours=0");
  EXPECT_EQ(quotas_->never({1003, 1}, fits), "quota: user 1003 may run no jobs: running=0");
  EXPECT_EQ(quotas_->never({1004, 1}, fits), "quota: user 1004 may use no energy: joules=0");
}

TEST_F(QuotaBooks, PoliciesAreShownALittleMoreThanCanStart) {
  with("user 1001 slices=3\nuser 1002 jobs=5\nuser 1003 running=2");
  const auto most = [&](std::uint32_t uid) {
    return quotas_->admitted_max(*quotas_->enter({uid, 1}).begin());
  };
  constexpr std::size_t kAhead = Quotas::kAhead;
  EXPECT_EQ(most(1001), 3 + kAhead);
  EXPECT_EQ(most(1002), 14 + kAhead) << "two whole GPUs in the smallest slices";
  EXPECT_EQ(most(1003), 2 + kAhead);
}

// ---- rows

TEST_F(QuotaBooks, WhatWasUsedIsReadBack) {
  constexpr const char* kRules = "user 1001 gpu-hours=9 joules=1000\ndefault gpu-hours=1";
  with(kRules);
  quotas_->begin(kAnn, attempt("7g.40gb", 0));
  quotas_->begin(kBob, attempt("7g.40gb", 0));
  EXPECT_TRUE(quotas_->take_changed().empty()) << "nothing is over";
  set_time(3'600);
  quotas_->add_joules(kAnn, 42);
  EXPECT_TRUE(quotas_->take_changed().empty()) << "joules are written now and then";
  quotas_->note_books_due();
  quotas_->end(kBob, attempt("7g.40gb", 0, 3'600));
  std::vector<store::TotalRow> rows = quotas_->take_changed();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_TRUE(quotas_->take_changed().empty());

  with(kRules);
  set_time(3'700);
  quotas_->read(rows, JobTable{});
  EXPECT_EQ(used(kAnn, "joules"), 42);
  quotas_->enter(kBob);  // when they come again; their jobs are forgotten
  EXPECT_DOUBLE_EQ(used(kBob, "gpu-hours"), 1);
  EXPECT_FALSE(may_start(kBob, "1g.5gb"));

  with(kRules);
  set_time(8 * 86'400);
  quotas_->read(rows, JobTable{});
  EXPECT_EQ(used(kAnn, "joules"), 0) << "of another period";
}

TEST_F(QuotaBooks, RowsThatNobodyGoesOnWithAreMarked) {
  with("user 1001 gpu-hours=9");
  quotas_->begin(kAnn, attempt("7g.40gb", 0));
  quotas_->end(kAnn, attempt("7g.40gb", 0, 3'600));
  const std::vector<store::TotalRow> rows = quotas_->take_changed();
  for (const char* rules : {"", "user 1001 slices=3", "period day\nuser 1001 gpu-hours=9"}) {
    with(rules);
    quotas_->read(rows, JobTable{});
    const std::vector<store::TotalRow> marked = quotas_->take_changed();
    ASSERT_FALSE(marked.empty()) << rules;
    EXPECT_EQ(marked.front().name, "quota.user.week.since") << rules;
    EXPECT_EQ(marked.front().value, -1) << rules;
    with("user 1001 gpu-hours=9");
    quotas_->read(marked, JobTable{});
    EXPECT_EQ(used(kAnn, "gpu-hours"), 0) << "of which nothing is known without the attempts";
  }
}

}  // namespace
}  // namespace partita::control
