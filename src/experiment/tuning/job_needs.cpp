#include "experiment/tuning/job_needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "cluster/cluster_state.h"

namespace partita::experiment {
namespace {

// Where its memory grows, a job needs more in the end than is believed at first.
double peak_gib(const workload::Trace& window, std::size_t index) {
  return window.memory_curves.empty() ? 0 : window.memory_curves[index].peak_gib;
}

std::string example_text(const workload::Trace& window, std::size_t index) {
  const workload::Job& job = window.jobs[index];
  std::string sizes;
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    if (job.time[i] != workload::kNoTime) sizes += fmt::format(" {}g", workload::kSliceSizes[i]);
  }
  return fmt::format("job '{}' needs {:g} GiB and a slice of size{}",
                     window.id(JobId{static_cast<std::uint32_t>(index)}),
                     std::max(static_cast<double>(job.memory_gib), peak_gib(window, index)), sizes);
}

}  // namespace

JobNeeds::JobNeeds(const mig::GpuModel& model) : model_(&model) {
  for (int number = 1; number <= mig::numbered_layouts_count(model); ++number) {
    const auto layout = mig::numbered_layout(model, number);
    CHECK(layout.ok());
    unsigned profiles = 0;
    for (const mig::Placement& placed : layout->instances()) profiles |= 1U << placed.profile;
    layouts_.push_back(static_cast<Profiles>(profiles));
  }
}

Result<JobNeeds> JobNeeds::of(const mig::GpuModel& model, std::span<const workload::Trace> windows,
                              std::span<const workload::Trace> more) {
  JobNeeds needs(model);
  for (const workload::Trace& window : windows) needs.add(window);
  for (const workload::Trace& window : more) needs.add(window);
  for (const Need& need : needs.needs_) {
    const bool offered = std::ranges::any_of(
        needs.layouts_, [&](Profiles profiles) { return (profiles & need.fits) != 0; });
    if (offered) continue;
    return Error{fmt::format("{}; no numbered layout of {} offers that", need.example, model.key)};
  }
  needs.keep_strictest();
  return needs;
}

void JobNeeds::add(const workload::Trace& window) {
  const cluster::ProfileFits fits(*model_);
  for (std::size_t i = 0; i < window.jobs.size(); ++i) {
    unsigned profiles = fits(window.jobs[i]);
    const double peak = peak_gib(window, i);
    for (std::size_t p = 0; p < model_->profiles.size(); ++p) {
      if (model_->profiles[p].memory_gib < peak) profiles &= ~(1U << p);
    }
    const auto known = std::ranges::find(needs_, profiles, &Need::fits);
    if (known != needs_.end()) {
      ++known->jobs;
    } else {
      needs_.push_back({static_cast<Profiles>(profiles), 1, example_text(window, i)});
    }
  }
}

// Whoever meets a need meets those that allow more.
void JobNeeds::keep_strictest() {
  for (const Need& need : needs_) {
    const bool implied = std::ranges::any_of(needs_, [&](const Need& other) {
      return other.fits != need.fits && (other.fits & need.fits) == other.fits;
    });
    if (!implied) strict_.push_back(need.fits);
  }
}

JobNeeds::Profiles JobNeeds::profiles_of(const Mix& mix) const {
  unsigned profiles = 0;
  for (const int number : mix) profiles |= layouts_.at(static_cast<std::size_t>(number - 1));
  return static_cast<Profiles>(profiles);
}

bool JobNeeds::met_by_profiles(Profiles profiles) const {
  return std::ranges::all_of(strict_, [&](Profiles need) { return (need & profiles) != 0; });
}

bool JobNeeds::met_by(const MixPlan& plan) const {
  unsigned profiles = 0;
  for (const PlanSegment& segment : plan.segments) profiles |= profiles_of(segment.mix);
  return met_by_profiles(static_cast<Profiles>(profiles));
}

// Some layout has to meet the first need that is not met yet: few branches, and few needs are
// strict, so trying them all is quick.
bool JobNeeds::complete(Profiles there, std::size_t most, Mix& added) const {
  const auto unmet =
      std::ranges::find_if(strict_, [&](Profiles need) { return (need & there) == 0; });
  if (unmet == strict_.end()) return true;
  if (most == 0) return false;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    if ((layouts_[i] & *unmet) == 0) continue;
    added.push_back(static_cast<int>(i) + 1);
    if (complete(static_cast<Profiles>(there | layouts_[i]), most - 1, added)) return true;
    added.pop_back();
  }
  return false;
}

JobNeeds::Reach JobNeeds::best_reach(Profiles there, int least, std::size_t layouts) const {
  if (layouts == 0) {
    Reach reach{0, there};
    for (const Need& need : needs_) reach.jobs += (need.fits & there) != 0 ? need.jobs : 0;
    return reach;
  }
  Reach best;
  for (std::size_t i = static_cast<std::size_t>(least) - 1; i < layouts_.size(); ++i) {
    const auto more = static_cast<Profiles>(there | layouts_[i]);
    const Reach reach = best_reach(more, static_cast<int>(i) + 1, layouts - 1);
    if (reach.jobs > best.jobs) best = reach;
  }
  return best;
}

Error JobNeeds::too_few(std::uint32_t gpus) const {
  std::size_t fewest = gpus + 1;
  for (Mix added; !complete(0, fewest, added); ++fewest) added.clear();
  const Reach reach = best_reach(0, 1, gpus);
  const auto left_out = std::ranges::find_if(
      needs_, [&](const Need& need) { return (need.fits & reach.profiles) == 0; });
  CHECK(left_out != needs_.end());
  return {fmt::format(
      "{} {} cannot be cut so that every job fits a slice: {}, which the layouts that serve the "
      "most jobs do not have; {} GPUs are the fewest",
      gpus, gpus == 1 ? "GPU" : "GPUs", left_out->example, fewest)};
}

Result<std::vector<Mix>> JobNeeds::first_mixes(std::uint32_t gpus) const {
  CHECK(gpus > 0);
  std::vector<Mix> mixes;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const std::size_t others_max = std::min<std::size_t>(gpus - 1, strict_.size());
    Mix mix;
    std::size_t others = 0;
    while (others <= others_max && !complete(layouts_[i], others, mix)) ++others;
    if (others > others_max) continue;
    mix.resize(gpus, static_cast<int>(i) + 1);
    std::ranges::sort(mix);
    if (std::ranges::find(mixes, mix) == mixes.end()) mixes.push_back(std::move(mix));
  }
  if (mixes.empty()) return too_few(gpus);
  return mixes;
}

}  // namespace partita::experiment
