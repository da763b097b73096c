// The controller and the simulator, given the same jobs, decide the same up to and with the first
// decision that interrupts a job. From there on they differ: stopping is instantaneous in one, and
// in the other a job waits again only when its process has ended.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/rng.h"
#include "control/controller.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita {
namespace {

constexpr Micros kBegin = Micros::seconds(1'000);
constexpr decide::Preemption kPays{decide::Preemption::Mode::kPays, Micros::seconds(10)};

// Who begins where, and who is interrupted, at one instant; jobs are numbered from 0.
struct Decided {
  Micros at;
  std::set<std::pair<std::uint32_t, std::uint32_t>> begin;  // job, slice
  std::set<std::uint32_t> interrupted;

  bool operator==(const Decided&) const = default;
};

std::string text_of(const Decided& decided) {
  std::string text = fmt::format("{} s:", decided.at.to_seconds());
  for (const auto& [job, slice] : decided.begin) text += fmt::format(" {} on {}", job, slice);
  for (const std::uint32_t job : decided.interrupted) text += fmt::format(" {} stops", job);
  return text;
}

std::vector<control::JobSpec> random_jobs(std::uint64_t seed, std::vector<Micros>& arrivals) {
  Rng rng(seed, 5);
  std::vector<control::JobSpec> specs;
  Micros now = kBegin;
  for (int i = 0; i < 30; ++i) {
    now += Micros::seconds(static_cast<std::int64_t>(1 + rng.below(60)));
    control::JobSpec spec;
    spec.argv = {"train"};
    spec.directory = "/";
    spec.name = "train";
    spec.memory_gib = rng.uniform(1, 9);
    const double whole = std::floor(std::exp(rng.uniform(2.5, 6.5)));
    for (std::size_t k = 0; k < spec.times.size(); ++k) {
      spec.times[k] =
          Micros::seconds(static_cast<std::int64_t>(whole * 7 / workload::kSliceSizes[k]));
    }
    spec.deadline = now + micros_from_seconds(whole * rng.uniform(1.5, 12));
    if (rng.below(4) > 0) spec.checkpoint = {"save"};
    specs.push_back(spec);
    arrivals.push_back(now);
  }
  return specs;
}

// The decisions of a simulated run up to the first that interrupts.
std::vector<Decided> simulated(const std::vector<control::JobSpec>& specs,
                               const std::vector<Micros>& arrivals, const std::string& scheduler,
                               const std::string& rule, std::uint32_t gpus) {
  workload::Trace trace;
  trace.class_index("job");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    trace.add(control::as_policy_job(specs[i], arrivals[i], *specs[i].memory_gib),
              std::to_string(i));
  }
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = gpus;
  options.preemption = kPays;
  options.keep_jobs = options.keep_schedule = true;
  const auto order = policies::make_scheduler(scheduler, 1);
  const auto layouts = policies::make_repartitioner(rule, *options.model, gpus);
  const auto result = sim::simulate(trace, options, **order, **layouts);
  CHECK(result.ok());
  std::map<Micros, Decided> by_time;
  Micros first = Micros::max();
  for (const sim::SchedulePiece& piece : result->schedule) {
    by_time[piece.begin].begin.emplace(piece.id.value, piece.slice.value);
    if (result->job_records[piece.id.value].completion == piece.end) continue;
    by_time[piece.end].interrupted.insert(piece.id.value);
    first = std::min(first, piece.end);
  }
  std::vector<Decided> decided;
  for (auto& [at, each] : by_time) {
    each.at = at;
    if (at <= first) decided.push_back(each);
  }
  return decided;
}

// A world in which everything works at once and jobs take what they said.
class PlainWorld {
 public:
  PlainWorld(const std::string& scheduler, const std::string& rule, std::uint32_t gpus) {
    const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
    std::vector<control::GpuFact> facts;
    for (std::uint32_t i = 0; i < gpus; ++i) {
      facts.push_back({fmt::format("GPU-{}", i), "A100", GpuId{i}});
    }
    control::Options options;
    options.pass_interval = Micros{};
    options.preemption = kPays;
    controller_ = std::make_unique<control::Controller>(
        options, model, facts, *policies::make_scheduler(scheduler, 1),
        *policies::make_repartitioner(rule, model, gpus));
    auto turn = controller_->restore(Micros::seconds(1), {}, {}, {});
    CHECK(turn.ok());
    take(*std::move(turn), Micros::seconds(1));
    take(controller_->step(Micros::seconds(2), {}), Micros::seconds(2));  // makes the slices
  }

  std::vector<Decided> run(const std::vector<control::JobSpec>& specs,
                           const std::vector<Micros>& arrivals) {
    specs_ = specs;
    std::size_t next = 0;
    while (!interrupted_ && (next < specs.size() || !ends_.empty())) {
      Micros now = next < specs.size() ? arrivals[next] : Micros::max();
      for (const auto& [job, end] : ends_) now = std::min(now, end);
      std::vector<control::Input> inputs;
      for (const auto& [job, end] : ends_) {
        if (end == now) inputs.push_back(report(job, launch::Report::Kind::kEnded));
      }
      std::erase_if(ends_, [&](const auto& each) { return each.second == now; });
      for (; next < specs.size() && arrivals[next] == now; ++next) {
        control::Submit submit;
        submit.owner = {1000, 1000};
        submit.spec = specs[next];
        inputs.emplace_back(submit);
      }
      take(controller_->step(now, inputs), now);
    }
    return decided_;
  }

 private:
  launch::Report report(JobNumber job, launch::Report::Kind kind) const {
    launch::Report report;
    report.kind = kind;
    report.key = {job, 1};
    report.exit_code = 0;
    return report;
  }

  static std::uint32_t number(JobNumber job) { return static_cast<std::uint32_t>(job.value - 1); }

  void begin(const control::Launch& launch, Micros now, Decided& decided) {
    const mig::Placement placement = placements_.at(launch.instance.uuid);
    const mig::Profile& profile = controller_->fleet().model().profiles[placement.profile];
    const JobNumber job = launch.start.key.job;
    ends_[job] =
        now + *specs_[number(job)].times[*workload::slice_size_index(profile.compute_slices)];
    decided.begin.emplace(number(job),
                          cluster::slice_id(launch.instance.gpu, placement.start).value);
  }

  // Carries out what a turn says, and what follows at the same instant.
  void take(control::Turn turn, Micros now) {
    while (!turn.effects.empty() && !interrupted_) {
      Decided decided;
      decided.at = now;
      std::vector<control::Input> inputs;
      for (const control::Effect& effect : turn.effects) {
        if (const auto* create = std::get_if<control::Create>(&effect)) {
          device::Instance instance;
          instance.key = {create->gpu, ++made_, fmt::format("MIG-{}", made_)};
          instance.placement = create->placement;
          placements_[instance.key.uuid] = create->placement;
          inputs.push_back(control::CreateDone{create->gpu, create->placement, instance, {}});
        } else if (const auto* launch = std::get_if<control::Launch>(&effect)) {
          begin(*launch, now, decided);
          inputs.push_back(report(launch->start.key.job, launch::Report::Kind::kStarted));
        } else if (const auto* stop = std::get_if<control::Stop>(&effect)) {
          interrupted_ = true;
          decided.interrupted.insert(number(stop->key.job));
        }
      }
      for (const auto& [id, job] : controller_->jobs()) {
        if (const auto slice = controller_->claim_of(id)) {
          decided.begin.emplace(number(id), slice->value);
        }
      }
      if (!decided.begin.empty() || interrupted_) decided_.push_back(decided);
      if (!interrupted_) turn = controller_->step(now, inputs);
    }
  }

  std::unique_ptr<control::Controller> controller_;
  std::vector<control::JobSpec> specs_;
  std::map<std::string, mig::Placement> placements_;
  std::map<JobNumber, Micros> ends_;  // of processes, by job
  std::vector<Decided> decided_;
  std::uint32_t made_ = 0;
  bool interrupted_ = false;
};

TEST(LiveAgreement, TheControllerDecidesWhatTheSimulatorDecidesUpToTheFirstInterruption) {
  constexpr std::uint64_t kSeeds = 150;
  std::uint64_t interrupted = 0;
  std::uint64_t moved = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string scheduler = seed % 3 == 0 ? "edf-ss" : "mdd";
    const std::string rule = seed % 2 == 0 ? "static:2" : "static:3";
    const auto gpus = static_cast<std::uint32_t>(1 + seed % 2);
    std::vector<Micros> arrivals;
    const auto specs = random_jobs(seed, arrivals);
    const auto wanted = simulated(specs, arrivals, scheduler, rule, gpus);
    const auto found = PlainWorld(scheduler, rule, gpus).run(specs, arrivals);
    ASSERT_EQ(found.size(), wanted.size()) << "seed " << seed;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(found[i], wanted[i])
          << "seed " << seed << "\n  the controller: " << text_of(found[i])
          << "\n  the simulator: " << text_of(wanted[i]);
    }
    const Decided& last = wanted.back();
    interrupted += last.interrupted.empty() ? 0 : 1;
    moved += std::ranges::any_of(
        last.begin, [&](const auto& each) { return last.interrupted.contains(each.first); });
  }
  EXPECT_GT(interrupted, kSeeds / 3);
  EXPECT_GT(moved, 0U);
}

}  // namespace
}  // namespace partita
