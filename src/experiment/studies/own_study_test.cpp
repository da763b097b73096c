#include "experiment/studies/own_study.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

std::vector<std::string> repartitioners(const Study& study) {
  std::vector<std::string> all;
  for (const StudyPolicy& policy : study.settings.front().policies) {
    all.push_back(policy.repartition);
  }
  return all;
}

OwnStudy own(const std::string& repartition) {
  return {"", papers_days({}), "A100", a100_options(3), {"cedf", repartition}, "papers"};
}

TEST(OwnStudy, IsNamedByTheStemOfItsFile) {
  OwnStudy asked = own("none");
  EXPECT_EQ(own_study(asked).name, "own");
  asked.source = "some/folder/mine.day.toml";
  EXPECT_EQ(own_study(asked).name, "mine");
}

TEST(OwnStudy, WhatIsSetMeetsWholeGpusLookingAheadAndOnDemandSlicing) {
  EXPECT_EQ(repartitioners(own_study(own("static:1,2,2"))),
            (std::vector<std::string>{"static:1,2,2", "none",
                                      "lookahead:every=12,profile=papers,start=1/2/2",
                                      "ondemand:first-fit", "ondemand:least-fragmenting"}));
  EXPECT_EQ(repartitioners(own_study(own("none"))),
            (std::vector<std::string>{"none", "lookahead:every=12,profile=papers,start=1",
                                      "ondemand:first-fit", "ondemand:least-fragmenting"}));
  EXPECT_EQ(own_study(own("none")).settings.front().policies.front().scheduler, "cedf");
}

TEST(OwnStudy, PoliciesOfTheUsersOwnReplaceTheUsualOnes) {
  OwnStudy asked = own("static:1");
  asked.policies = {{"mine", "mdd", "static:2"}};
  EXPECT_EQ(repartitioners(own_study(asked)), std::vector<std::string>{"static:2"});
}

TEST(OwnStudy, HasTheSettingsOfTheRun) {
  OwnStudy asked = own("none");
  asked.run.preemption = {decide::Preemption::Mode::kCost, Micros::seconds(9)};
  asked.run.estimate_error = 0.25;
  asked.run.et_a = 3e-7;
  const StudySetting setting = own_study(asked).settings.front();
  EXPECT_EQ(setting.gpu, "A100");  // as it was asked for
  EXPECT_EQ(setting.gpus, 3U);
  EXPECT_EQ(setting.power, asked.run.power->name);
  EXPECT_EQ(setting.preemption.cost, Micros::seconds(9));
  EXPECT_EQ(setting.estimate_error, 0.25);
  EXPECT_EQ(setting.et_a, 3e-7);
}

}  // namespace
}  // namespace partita::experiment
