#include "experiment/tuning/tune.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "experiment/tuning/plan_search.h"
#include "policies/layout_list.h"

namespace partita::experiment {
namespace {

using Indices = std::vector<std::size_t>;

constexpr std::size_t kSegmentsMax = 24;

Indices first_indices(std::size_t count) {
  Indices all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Indices without(const Indices& all, const Indices& left_out) {
  Indices rest;
  std::ranges::set_difference(all, left_out, std::back_inserter(rest));
  return rest;
}

// GPUs that can have the same layout in both mixes. REQUIRES: in order, as mixes are.
std::size_t in_common(const Mix& a, const Mix& b) {
  Mix both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both.size();
}

const Mix& mix_at(const MixPlan& plan, Micros time_of_day) {
  const PlanSegment* in_force = &plan.segments.back();
  for (const PlanSegment& segment : plan.segments) {
    if (segment.from <= time_of_day) in_force = &segment;
  }
  return in_force->mix;
}

// Switches are at full hours, so looking once an hour sees everything.
double share_in_common(const MixPlan& a, const MixPlan& b) {
  std::size_t same = 0;
  std::size_t all = 0;
  for (std::int64_t hour = 0; hour < 24; ++hour) {
    const Micros time = Micros::seconds(hour * 3600);
    same += in_common(mix_at(a, time), mix_at(b, time));
    all += mix_at(a, time).size();
  }
  return static_cast<double>(same) / static_cast<double>(all);
}

// The mixes of those references that are static and of numbered layouts.
std::vector<Mix> known_mixes(const std::vector<std::string>& references, const mig::GpuModel& model,
                             std::uint32_t gpus) {
  constexpr std::string_view kStatic = "static:";
  std::vector<Mix> mixes;
  for (const std::string& text : references) {
    if (!text.starts_with(kStatic)) continue;
    const auto layouts =
        policies::parse_layout_list(model, gpus, std::string_view(text).substr(kStatic.size()));
    if (!layouts) continue;
    Mix mix;
    for (const mig::Layout& layout : *layouts) {
      if (const auto number = mig::number_of(model, layout)) mix.push_back(*number);
    }
    std::ranges::sort(mix);
    if (mix.size() == gpus) mixes.push_back(std::move(mix));
  }
  return mixes;
}

class Tuner {
 public:
  Tuner(std::span<const workload::Trace> windows, const TuneSetting& setting,
        const TuneOptions& options, const JobNeeds& needs)
      : options_(options),
        needs_(needs),
        scores_(windows, setting, options.threads),
        all_(first_indices(windows.size())),
        blocks_(blocks_of_windows(windows.size(), options.folds)) {
    search_.gpus = setting.run.gpus;
    search_.segments = options.segments;
    search_.evaluations = options.evaluations;
    search_.caution = options.caution;
    search_.known_mixes = known_mixes(options.references, *setting.run.model, setting.run.gpus);
    search_.seed = options.seed;
  }

  Result<TunedMix> run();

 private:
  Result<FoundPlan> search(const Indices& windows);
  Status cross_validate(TunedMix& tuned);
  void judge_unseen(TunedMix& tuned);

  const TuneOptions& options_;
  const JobNeeds& needs_;
  PlanScores scores_;
  Indices all_;
  std::vector<Indices> blocks_;
  SearchOptions search_;
  std::size_t searches_done_ = 0;
};

Result<FoundPlan> Tuner::search(const Indices& windows) {
  const auto done = static_cast<double>(searches_done_++);
  const auto searches = static_cast<double>(blocks_.size() + 1);
  if (options_.progress) {
    search_.progress = [=, this](double part) { options_.progress((done + part) / searches); };
  }
  return search_plan(scores_, needs_, windows, search_);
}

// Every search begins with the same seed, so that they try much the same plans and hardly simulate
// more than one of them would.
Status Tuner::cross_validate(TunedMix& tuned) {
  for (const Indices& block : blocks_) {
    const Result<FoundPlan> found = search(without(all_, block));
    if (!found) return found.error();
    tuned.folds.push_back({block, found->plan, found->start});
  }
  if (!tuned.folds.empty()) judge_unseen(tuned);
  return {};
}

void Tuner::judge_unseen(TunedMix& tuned) {
  for (const Fold& fold : tuned.folds) {
    const auto append = [&](const MixPlan& plan, std::vector<double>& ets) {
      for (const double et : scores_.all(plan, fold.left_out)) {
        ets.push_back(et);
        if (et < kCannotRun || !tuned.unseen_reason.empty()) continue;
        tuned.unseen_reason = scores_.of_text(to_text(plan)).error().message;
      }
    };
    append(fold.plan, tuned.unseen_et);
    append(fold.start, tuned.unseen_start_et);
  }
  if (tuned.unseen_reason.empty()) return;
  tuned.unseen_et.clear();
  tuned.unseen_start_et.clear();
}

Result<TunedMix> Tuner::run() {
  const Result<FoundPlan> found = search(all_);
  if (!found) return found.error();
  TunedMix tuned;
  tuned.plan = found->plan;
  tuned.et = scores_.all(found->plan, all_);
  tuned.start = found->start;
  tuned.start_et = scores_.all(found->start, all_);
  tuned.runner_up = found->runner_up;
  if (found->runner_up) tuned.runner_up_et = scores_.all(*found->runner_up, all_);
  tuned.evaluations = found->evaluations;
  const Status validated = cross_validate(tuned);
  if (!validated) return validated.error();
  for (const std::string& repartition : options_.references) {
    Result<std::vector<double>> et = scores_.of_text(repartition);
    tuned.references.push_back({repartition, {}, {}});
    if (et) {
      tuned.references.back().et = *std::move(et);
    } else {
      tuned.references.back().reason = et.error().message;
    }
  }
  tuned.runs = scores_.runs();
  return tuned;
}

}  // namespace

std::size_t TunedMix::folds_agreeing() const {
  const auto agrees = [&](const Fold& fold) { return fold.plan == plan; };
  return static_cast<std::size_t>(std::ranges::count_if(folds, agrees));
}

double TunedMix::share_agreed() const {
  CHECK(!folds.empty());
  double sum = 0;
  for (const Fold& fold : folds) sum += share_in_common(plan, fold.plan);
  return sum / static_cast<double>(folds.size());
}

std::vector<std::vector<std::size_t>> blocks_of_windows(std::size_t windows, std::size_t folds) {
  const std::size_t blocks = std::min(windows, folds);
  std::vector<std::vector<std::size_t>> made;
  for (std::size_t block = 0; block < blocks && blocks > 1; ++block) {
    made.emplace_back();
    for (std::size_t i = windows * block / blocks; i < windows * (block + 1) / blocks; ++i) {
      made.back().push_back(i);
    }
  }
  return made;
}

Result<TunedMix> tune_mix(std::span<const workload::Trace> windows, const TuneSetting& setting,
                          const TuneOptions& options) {
  if (windows.empty()) return Error{"there is no window of jobs to tune on"};
  if (options.segments < 1 || options.segments > kSegmentsMax) {
    return Error{"a timetable has 1 to 24 switches a day"};
  }
  CHECK(setting.run.model != nullptr);
  const Result<JobNeeds> needs = JobNeeds::of(*setting.run.model, windows, options.also_to_fit);
  if (!needs) return needs.error();
  return Tuner(windows, setting, options, *needs).run();
}

}  // namespace partita::experiment
