// QueueRig: a controller, a store and processes that end when told to, for tests of the queue.
//
// Every GPU is one slice, jobs start in the order in which the scheduler gets to know them, and the
// daemon can be killed between any two steps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "store/memory_store.h"

namespace partita::control::test {

class InOrder : public decide::Scheduler {
 public:
  void begin(const decide::View&) override {}
  void job_arrived(const decide::View&, cluster::JobHandle job) override {
    waiting_.push_back(job);
  }
  void job_stopped(const decide::View&, cluster::JobHandle job) override {
    waiting_.push_back(job);
  }
  void job_done(const decide::View&, cluster::JobHandle) override {}
  void job_withdrawn(const decide::View&, cluster::JobHandle job) override {
    std::erase(waiting_, job);
  }
  void job_returned(const decide::View& view, cluster::JobHandle job) override {
    if (!view.jobs[job].slice.valid()) waiting_.push_back(job);
  }
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View& view, decide::Decision& decision) override {
    for (std::uint32_t i = 0; i < view.cluster.slices.size() && !waiting_.empty(); ++i) {
      const cluster::Slice& slice = view.cluster.slices[i];
      if (slice.state != cluster::SliceState::kIdle || slice.closing) continue;
      decision.moves.push_back({waiting_.front(), cluster::SliceId{i}});
      waiting_.pop_front();
    }
  }

 private:
  std::deque<cluster::JobHandle> waiting_;
};

class Uncut : public decide::Repartitioner {
 public:
  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    return std::vector(view.cluster.gpus.size(), *mig::numbered_layout(*view.cluster.model, 1));
  }
  std::optional<Micros> next_time(Micros now) const override { return now + Micros::seconds(1); }
  void decide(const decide::View&, std::vector<decide::LayoutRequest>&) override {}
};

class QueueRig : public testing::Test {
 protected:
  explicit QueueRig(std::uint32_t gpus = 1) {
    const mig::Placement whole = mig::numbered_layout(model_, 1)->instances()[0];
    store::Batch batch;
    for (std::uint32_t i = 0; i < gpus; ++i) {
      const std::string name = std::to_string(i);
      gpus_.push_back({"GPU-" + name, "A100", GpuId{i}});
      device::Instance instance;
      instance.key = {GpuId{i}, 1, "MIG-" + name};
      instance.placement = whole;
      inventories_.push_back({GpuId{i}, {instance}});
      batch.instances.push_back({"GPU-" + name, 0, model_.profiles[whole.profile].name,
                                 "MIG-" + name, static_cast<std::int64_t>(SliceStage::kPresent)});
    }
    EXPECT_TRUE(store_.commit(batch).ok());
    boot();
  }

  // The daemon begins, perhaps after it was killed; processes go on.
  void boot() {
    Policies policies{std::make_unique<InOrder>(), std::make_unique<Uncut>(), nullptr,
                      [] { return std::make_unique<InOrder>(); }};
    controller_ = std::make_unique<Controller>(options_, model_, gpus_, std::move(policies));
    const auto contents = store_.load();
    std::vector<launch::Report> reports;
    for (const launch::AttemptKey key : unsettled_attempts(*contents)) {
      reports.push_back(report(launch::Report::Kind::kStarted, key));
    }
    Result<Turn> turn = controller_->restore(now_, *contents, inventories_, reports);
    ASSERT_TRUE(turn.ok());
    take(*std::move(turn));
    step({});
  }

  // A step, and another a second later in which processes report that they began.
  std::vector<Reply> step(std::vector<Input> inputs) {
    now_ += Micros::seconds(1);
    std::vector<Reply> replies = take(controller_->step(now_, inputs));
    std::vector<Input> began;
    for (const launch::AttemptKey key : std::exchange(starting_, {})) {
      began.push_back(report(launch::Report::Kind::kStarted, key));
    }
    now_ += Micros::seconds(1);
    take(controller_->step(now_, began));
    return replies;
  }

  Reply submit(const JobSpec& spec, std::size_t count = 1, launch::Owner owner = {1000, 1000}) {
    return step({Submit{1, owner, "", spec, count}}).at(0);
  }
  // The number of the job that was accepted.
  std::int64_t add(const JobSpec& spec) {
    const Reply reply = submit(spec);
    EXPECT_EQ(reply.kind, Reply::Kind::kAccepted) << reply.message;
    return reply.jobs.empty() ? 0 : reply.jobs.front().value;
  }
  // The job's process ends.
  void end(std::int64_t job, int exit_code = 0) {
    launch::Report ended = report(launch::Report::Kind::kEnded, key_of(job));
    ended.exit_code = exit_code;
    step({ended});
  }
  void lose(std::int64_t job) { step({report(launch::Report::Kind::kVanished, key_of(job))}); }
  Reply cancel(std::int64_t job) { return step({Cancel{1, {job}}}).at(0); }

  launch::AttemptKey key_of(std::int64_t job) {
    return {{job}, controller_->find({job})->progress.attempt};
  }
  std::string state(std::int64_t job) {
    return std::string(name_of(controller_->find({job})->state()));
  }
  const std::string& reason(std::int64_t job) { return controller_->find({job})->progress.reason; }

  static JobSpec spec() {
    JobSpec spec;
    spec.argv = {"train"};
    spec.directory = "/";
    spec.name = "train";
    return spec;
  }

  Options options_;
  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  Micros now_ = Micros::seconds(1'000);
  std::vector<GpuFact> gpus_;
  std::vector<Inventory> inventories_;
  store::MemoryStore store_;
  std::unique_ptr<Controller> controller_;
  std::map<std::int64_t, launch::Start> started_;  // by job, the latest
  std::map<std::int64_t, bool> stopped_;           // whether its work is saved first

 private:
  static launch::Report report(launch::Report::Kind kind, launch::AttemptKey key) {
    launch::Report made;
    made.kind = kind;
    made.key = key;
    made.pid = 7;
    return made;
  }
  std::vector<Reply> take(Turn turn) {
    EXPECT_TRUE(store_.commit(turn.batch).ok());
    for (const Effect& effect : turn.effects) {
      if (const auto* launch = std::get_if<Launch>(&effect)) {
        started_[launch->start.key.job.value] = launch->start;
        starting_.push_back(launch->start.key);
      }
      if (const auto* stop = std::get_if<Stop>(&effect)) {
        stopped_[stop->key.job.value] = stop->checkpoint;
      }
    }
    return std::move(turn.replies);
  }

  std::vector<launch::AttemptKey> starting_;
};

}  // namespace partita::control::test
