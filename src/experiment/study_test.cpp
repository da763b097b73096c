#include "experiment/study.h"

#include <gtest/gtest.h>

#include <set>

namespace partita::experiment {
namespace {

TEST(Study, EveryPolicyOfEveryStudyCanBeMadeAndHasAKeyOfItsOwn) {
  for (const Study& study : studies()) {
    const auto tasks = tasks_of(study, 2);
    ASSERT_TRUE(tasks.ok()) << study.name << ": " << tasks.error().message;
    std::set<RunKey> keys;
    for (const Task& task : *tasks) EXPECT_TRUE(keys.insert(task.key).second) << task.key.text();
  }
}

TEST(Study, EveryClaimNamesASettingAndPoliciesThatAreRun) {
  for (const Study& study : studies()) {
    std::set<std::pair<std::string, std::string>> run;
    for (const StudySetting& setting : study.settings) {
      for (const StudyPolicy& policy : setting.policies) run.insert({setting.name, policy.name});
    }
    for (const Claim& claim : study.claims) {
      const bool of_the_bound = claim.policy == kBoundName;
      EXPECT_TRUE(of_the_bound || run.contains({claim.setting, claim.policy}))
          << study.name << ", " << claim.what;
      const bool of_two = claim.kind == Claim::Kind::kEtGainPercent ||
                          claim.kind == Claim::Kind::kLateGainPercent ||
                          claim.kind == Claim::Kind::kThroughputRatio ||
                          claim.kind == Claim::Kind::kEnergyRatio;
      EXPECT_EQ(run.contains({claim.setting, claim.other}), of_two) << claim.what;
    }
  }
}

TEST(Study, Ccgrid25RunsFourHeuristicsOnTwelveLayouts) {
  std::set<std::string> run;
  for (const StudyPolicy& policy : (*find_study("ccgrid25"))->settings.front().policies) {
    run.insert(policy.name);
  }
  for (const char* heuristic : {"edf-ss", "edf-fs", "llf", "lalf"}) {
    EXPECT_TRUE(run.contains(std::string(heuristic) + "/none")) << heuristic;
    for (int layout = 2; layout <= 12; ++layout) {
      EXPECT_TRUE(run.contains(std::string(heuristic) + "/" + std::to_string(layout)));
    }
  }
}

TEST(Study, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(find_study("x").error().message,
            "unknown experiment 'x'; known: ccgrid25, migm, real-workloads, reservations, "
            "sensitivity, smart-mig, tech-report, weights");
}

TEST(Study, ADefinitionChangesWithWhatARunDependsOn) {
  Study study = *find_study("tech-report").operator*();
  const std::string before = definition_of(study, "1");
  study.settings[0].days.text += "21";
  EXPECT_NE(definition_of(study, "1"), before);
  EXPECT_NE(definition_of(studies().back(), "2"), before);
}

}  // namespace
}  // namespace partita::experiment
