#include "policies/learned/learned_scheduler.h"

#include <gtest/gtest.h>

#include "policies/learned/place_rules.h"
#include "policies/learned/slice_scheduler.h"
#include "policies/registry.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

nn::Model model_with(const PlaceRules& rules) {
  nn::Model model;
  write_rules(rules, model.facts);
  model.facts.command = model.facts.seed = model.facts.commit = "none";
  model.policy = nn::Network(nn::Shape{{rules.inputs(), rules.outputs()}, nn::Activation::kTanh});
  return model;
}

PlaceRules published(const std::string& slices) {
  PlaceRules rules;
  rules.encoding = PlaceEncoding::kPublished;
  rules.gpu = "a100-40gb";
  rules.slices = slices;
  return rules;
}

std::string file_of(const nn::Model& model) {
  // Tests run at the same time, each in its own process.
  std::string path = testing::TempDir() +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors";
  CHECK(nn::write_bytes(path, nn::format_model(model)).ok());
  return path;
}

TEST(LearnedScheduler, TheHeaderSaysTheRules) {
  PlaceRules rules;
  rules.gpu = "a100-40gb";
  ASSERT_TRUE(leave_out(rules, "wait,queue").ok());
  const auto read = read_place_rules(model_with(rules));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->without, rules.without);
  EXPECT_FALSE(read->has(PlacePiece::kWait));
  EXPECT_TRUE(read->has(PlacePiece::kJobs));
}

TEST(LearnedScheduler, KnowsWhetherItMayWait) {
  PlaceRules rules;
  rules.gpu = "a100-40gb";
  EXPECT_TRUE(scheduler_facts("learned:" + file_of(model_with(rules)))->may_wait);
  ASSERT_TRUE(leave_out(rules, "wait").ok());
  EXPECT_FALSE(scheduler_facts("learned:" + file_of(model_with(rules)))->may_wait);
  EXPECT_FALSE(scheduler_facts("learned:" + file_of(model_with(published("7"))))->may_wait);
}

TEST(LearnedScheduler, RefusesWhatIsNoSchedulerWithASentence) {
  EXPECT_EQ(make_scheduler("learned:/nowhere.safetensors", 1).error().message,
            "cannot open '/nowhere.safetensors'");
  nn::Model model = model_with(published("7,4,3"));
  model.facts.layouts = "7,9";
  const std::string path = file_of(model);
  EXPECT_EQ(make_scheduler("learned:" + path, 1).error().message,
            "'" + path + "': the model's header has slices '7,9'; wanted sizes such as 7,4,3");
  model.facts.layouts = "7,4";
  EXPECT_EQ(
      make_scheduler("learned:" + file_of(model), 1).error().message,
      "'" + path + "': the model's network has 54 inputs and 3 outputs; place/1 has 52 and 2");
  model.facts.encoding = "mean-field/1";
  EXPECT_EQ(make_scheduler("learned:" + file_of(model), 1).error().message,
            "'" + path +
                "' is a model of encoding mean-field/1, which chooses layouts; it goes "
                "with --repartition");
  model.facts.encoding = "place/9";
  EXPECT_EQ(make_scheduler("learned:" + file_of(model), 1).error().message,
            "'" + path +
                "': the model's encoding 'place/9' is not that of a scheduler; known: "
                "place/1, place+/1");
}

TEST(SliceScheduler, AcceptsTheFleetItWasTrainedOnOnly) {
  const Fleet fleet(2, "1,2");
  const PlaceRules rules = published("7,4,3");
  EXPECT_TRUE(SliceScheduler(model_with(rules), rules).accepts(fleet.view).ok());
  const PlaceRules others = published("7,7");
  EXPECT_EQ(SliceScheduler(model_with(others), others).accepts(fleet.view).error().message,
            "the scheduler's model is for slices of 7,7, not of 7,4,3");
  const Fleet h100(2, "1,2", "h100-80gb");
  EXPECT_EQ(SliceScheduler(model_with(rules), rules).accepts(h100.view).error().message,
            "the scheduler's model is for a100-40gb, not for h100-80gb");
}

// A network of which each output is its bias.
TEST(SliceScheduler, GivesTheEarliestDeadlineTheBestSliceThatIsFree) {
  Fleet fleet(2, "1,2");
  const PlaceRules rules = published("7,4,3");
  nn::Model model = model_with(rules);
  model.policy.biases(0)[0] = 1;
  model.policy.biases(0)[1] = 3;
  model.policy.biases(0)[2] = 2;
  SliceScheduler scheduler(model, rules);
  scheduler.begin(fleet.view);
  std::vector<JobHandle> jobs;
  for (const std::int64_t deadline : {300, 100, 200, 400}) {
    decide::ActiveJob job = waiting_job(kScaling, deadline);
    job.id = JobId{static_cast<std::uint32_t>(jobs.size())};
    job.fits = 0xffff;
    jobs.push_back(fleet.jobs.add(job));
    scheduler.job_arrived(fleet.view, jobs.back());
  }
  decide::Decision decision;
  scheduler.decide(fleet.view, decision);
  ASSERT_EQ(decision.moves.size(), 3U);
  EXPECT_EQ(decision.moves[0].job, jobs[1]);
  EXPECT_EQ(fleet.name(decision.moves[0].to), "gpu 1 4g.20gb:0");
  EXPECT_EQ(decision.moves[1].job, jobs[2]);
  EXPECT_EQ(fleet.name(decision.moves[1].to), "gpu 1 3g.20gb:4");
  EXPECT_EQ(decision.moves[2].job, jobs[0]);
  EXPECT_EQ(fleet.name(decision.moves[2].to), "gpu 0 7g.40gb:0");
}

}  // namespace
}  // namespace partita::policies
