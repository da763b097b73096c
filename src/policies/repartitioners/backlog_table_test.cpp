#include "policies/repartitioners/backlog_table.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(BacklogTable, TheRowOfTheHourAndTheBacklogCounts) {
  const auto rule = parse_backlog_rule(
      "# hour jobs mix\n4 0 1*8\n4 1.5 1*4,2*4  # busy\n\n20 0 2*8\n20 3 6*8\n", a100());
  ASSERT_TRUE(rule.ok()) << rule.error().message;
  EXPECT_EQ(rule->entry_for(5, 0.2), 0U);
  EXPECT_EQ(rule->entry_for(5, 1.5), 1U);
  EXPECT_EQ(rule->entry_for(19, 9), 1U);
  EXPECT_EQ(rule->entry_for(20, 0), 2U);
  EXPECT_EQ(rule->entry_for(2, 4), 3U);  // of the day before
}

TEST(BacklogTable, MistakesNameTheLine) {
  EXPECT_EQ(parse_backlog_rule("0 0 1*8\n24 0 2*8", a100()).error().message,
            "line 2: '24 0 2*8' is not HOUR JOBS MIX, for example 8 1.5 1*4,2*4");
  EXPECT_EQ(parse_backlog_rule("4 0 1\n4 0 2", a100()).error().message,
            "line 2: hours and jobs must rise from line to line");
  EXPECT_EQ(parse_backlog_rule("# nothing", a100()).error().message,
            "the file has no line HOUR JOBS MIX");
}

TEST(BacklogTable, MovesTheFleetToTheMixOfTheBacklog) {
  Fleet fleet(2, "1");
  BacklogTable table(*parse_backlog_rule("0 0 1*1\n0 2 2*1", a100()), 2);
  EXPECT_EQ(table.initial_layouts(fleet.view).size(), 2U);
  std::vector<decide::LayoutRequest> requests;
  table.decide(fleet.view, requests);
  EXPECT_TRUE(requests.empty());
  for (std::uint32_t i = 0; i < 4; ++i) {
    decide::ActiveJob job = waiting_job({32, 16, 12, 8, 4}, 100);
    job.id = JobId{i};
    fleet.jobs.add(job);
  }
  table.decide(fleet.view, requests);
  EXPECT_EQ(requests.size(), 2U);
}

}  // namespace
}  // namespace partita::policies
