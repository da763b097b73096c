#include "control/controller.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "control/dry_run.h"
#include "control/jobs/explain.h"

namespace partita::control {
namespace {

// Policies that do nothing, and say at a pass what they are told to say.
struct Says {
  std::string layouts;
  std::string jobs;
};

class Still : public decide::Repartitioner {
 public:
  explicit Still(Says& says) : says_(says) {}
  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    return {*mig::numbered_layout(*view.cluster.model, 1)};
  }
  std::optional<Micros> next_time(Micros now) const override { return now + Micros::seconds(1); }
  void decide(const decide::View&, std::vector<decide::LayoutRequest>&) override {}
  std::string take_note() override { return std::exchange(says_.layouts, {}); }

 private:
  Says& says_;
};

class Idle : public decide::Scheduler {
 public:
  explicit Idle(Says& says) : says_(says) {}
  void begin(const decide::View&) override {}
  void job_arrived(const decide::View&, cluster::JobHandle) override {}
  void job_stopped(const decide::View&, cluster::JobHandle) override {}
  void job_done(const decide::View&, cluster::JobHandle) override {}
  void job_withdrawn(const decide::View&, cluster::JobHandle) override {}
  void job_returned(const decide::View&, cluster::JobHandle) override {}
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View&, decide::Decision&) override {}
  std::string take_note() override { return std::exchange(says_.jobs, {}); }

 private:
  Says& says_;
};

class Notes : public testing::TestWithParam<bool> {};

// Events of no job are what the daemon writes to its log.
TEST_P(Notes, OfPoliciesAreLoggedOnceEach) {
  Says says;
  Options options;
  options.shadow = GetParam();
  Controller controller(options, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                        std::make_unique<Idle>(says), std::make_unique<Still>(says));
  if (options.shadow) {
    controller.rehearse_with(std::make_unique<DryRun>(
        std::make_unique<Controller>(DryRun::options_of(options), **mig::find_gpu("a100-40gb"),
                                     std::vector<GpuFact>{{"GPU-0", "A100", GpuId{0}}},
                                     std::make_unique<Idle>(says), std::make_unique<Still>(says))));
  }
  ASSERT_TRUE(controller.restore(Micros{1}, {}, {}, {}).ok());
  std::int64_t second = 0;
  const auto logged = [&] {
    std::vector<std::string> lines;
    for (const store::EventRow& event :
         controller.step(Micros::seconds(second += 2), {}).batch.events) {
      if (event.kind == "guard" && event.job == kNoJob) lines.push_back(event.text);
    }
    return lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(logged(), Lines{});
  says.layouts = "keeping the base layouts";
  EXPECT_EQ(logged(), Lines{"keeping the base layouts"});
  EXPECT_EQ(logged(), Lines{});
  says = {"the base layouts are left again", "modified due date places the jobs"};
  EXPECT_EQ(logged(),
            (Lines{"the base layouts are left again", "modified due date places the jobs"}));
  EXPECT_EQ(logged(), Lines{});
}

INSTANTIATE_TEST_SUITE_P(LiveAndShadow, Notes, testing::Bool());

// Jobs on whole GPUs, one each, as a store of version 3 has them: with no column for how an attempt
// ended, nor for why a job is being stopped.
class OlderStore : public testing::Test {
 protected:
  // Its attempts end with what is given, and the last is still there.
  void add(JobState state, const std::string& why, const std::vector<std::string>& ends = {}) {
    const JobNumber id{static_cast<std::int64_t>(contents_.jobs.size()) + 1};
    const GpuId gpu{static_cast<std::uint32_t>(gpus_.size())};
    const std::string name = std::to_string(id.value);
    gpus_.push_back({"GPU-" + name, "A100", gpu});
    const mig::Placement whole = mig::numbered_layout(model_, 1)->instances()[0];
    const std::string profile = model_.profiles[whole.profile].name;
    device::Instance instance;
    instance.key = {gpu, 1, "MIG-" + name};
    instance.placement = whole;
    inventories_.push_back({gpu, {instance}});
    contents_.instances.push_back({"GPU-" + name, 0, profile, "MIG-" + name,
                                   static_cast<std::int64_t>(SliceStage::kPresent)});
    JobSpec spec;
    spec.argv = {"train"};
    spec.directory = "/";
    spec.checkpoint = {"save"};
    store::JobRow row;
    row.progress.id = id;
    row.progress.state = static_cast<std::int64_t>(state);
    row.progress.attempt = static_cast<std::int64_t>(ends.size()) + 1;
    row.progress.reason = why;
    row.spec = encode_spec(spec);
    contents_.jobs.push_back(row);
    store::AttemptRow attempt;
    attempt.job = id;
    attempt.gpu = "GPU-" + name;
    attempt.instance = "MIG-" + name;
    attempt.profile = profile;
    attempt.state = static_cast<std::int64_t>(AttemptState::kEnded);
    for (const std::string& end : ends) {
      attempt.reason = end;
      ++attempt.number;
      contents_.attempts.push_back(attempt);
    }
    ++attempt.number;
    attempt.reason = "";
    attempt.state = static_cast<std::int64_t>(AttemptState::kRunning);
    contents_.attempts.push_back(attempt);
  }

  Turn restore() {
    Says silent;
    controller_ = std::make_unique<Controller>(
        Options{}, model_, gpus_, std::make_unique<Idle>(silent), std::make_unique<Still>(silent));
    Result<Turn> turn = controller_->restore(Micros{1}, contents_, inventories_, reports_);
    EXPECT_TRUE(turn.ok());
    return *std::move(turn);
  }

  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  std::vector<GpuFact> gpus_;
  store::Contents contents_;
  std::vector<Inventory> inventories_;
  std::vector<launch::Report> reports_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(OlderStore, TheJobThatWasPreemptedSavesItsWorkAndOthersAreStoppedAtOnce) {
  add(JobState::kRestarting, "preempted: job 9 takes its slice");
  add(JobState::kRestarting, "preempted");
  add(JobState::kRestarting, "its GPU is out: too hot");
  add(JobState::kCancelling, "by its owner");
  std::map<JobNumber, bool> saves;
  for (const Effect& effect : restore().effects) {
    if (const auto* stop = std::get_if<Stop>(&effect)) saves[stop->key.job] = stop->checkpoint;
  }
  EXPECT_EQ(saves,
            (std::map<JobNumber, bool>{{{1}, true}, {{2}, true}, {{3}, false}, {{4}, false}}));
}

TEST_F(OlderStore, LossesOfAJobAreCounted) {
  add(JobState::kRunning, "process 7", {"lost: its process vanished"});
  add(JobState::kRunning, "process 8", {"never started"});
  for (const std::int64_t id : {1, 2}) {
    launch::Report& report = reports_.emplace_back();
    report.kind = launch::Report::Kind::kVanished;
    report.key = {{id}, 2};
  }
  restore();
  EXPECT_EQ(controller_->find({1})->state(), JobState::kLost) << "for the second time";
  EXPECT_EQ(controller_->find({2})->state(), JobState::kQueued);
}

TEST_F(OlderStore, WithoutDiskSpaceNothingIsStartedOrTakenAndWhatEndsIsWritten) {
  add(JobState::kRunning, "process 7");
  restore();
  Submit submit;
  submit.ticket = 5;
  submit.spec.argv = {"train"};
  submit.spec.directory = "/";
  submit.spec.name = "train";
  const std::string why = "the disk of /state is full";
  Turn turn = controller_->step(Micros{2}, std::vector<Input>{Storage{false, why}, submit});
  ASSERT_EQ(turn.replies.size(), 1U);
  EXPECT_EQ(turn.replies[0].kind, Reply::Kind::kNoSpace);
  EXPECT_EQ(turn.replies[0].message, why);
  EXPECT_TRUE(turn.batch.new_jobs.empty());
  EXPECT_FALSE(controller_->next_wake());
  launch::Report ended;
  ended.kind = launch::Report::Kind::kEnded;
  ended.key = {{1}, controller_->find({1})->progress.attempt};
  ended.exit_code = 0;
  turn = controller_->step(Micros{3}, std::vector<Input>{ended});
  EXPECT_EQ(controller_->find({1})->state(), JobState::kDone);
  EXPECT_EQ(turn.batch.progress.size(), 1U);
  turn = controller_->step(Micros{4}, std::vector<Input>{Storage{true, ""}, submit});
  EXPECT_EQ(turn.replies.at(0).kind, Reply::Kind::kAccepted);
  EXPECT_TRUE(controller_->next_wake());
}

TEST_F(OlderStore, AnAttemptWhoseEndCouldNotBeWrittenIsPostponedAndTheJobWaitsAndSaysWhy) {
  add(JobState::kStarting, "on a slice");
  restore();
  launch::Report report;
  report.kind = launch::Report::Kind::kNoSpace;
  report.key = {{1}, controller_->find({1})->progress.attempt};
  report.message = "no space to write down how it ends";
  controller_->step(Micros{2}, std::vector<Input>{Storage{false, "full"}, report});
  const Job& job = *controller_->find({1});
  EXPECT_EQ(job.state(), JobState::kQueued);
  EXPECT_EQ(job.progress.reason, report.message);
  EXPECT_EQ(why_waiting(*controller_, job), std::vector<std::string>{"full"});
}

}  // namespace
}  // namespace partita::control
