#include "policies/repartitioners/loss_watch.h"

#include <algorithm>

#include "policies/seen_job.h"

namespace partita::policies {
namespace {

constexpr Micros kDay = Micros::seconds(86'400);
// Both forecasts of a change end when their last job does: a bound for jobs that never would.
constexpr Micros kShadowDrainMax = Micros::seconds(30 * 86'400);

}  // namespace

LossWatch::LossWatch(std::vector<mig::Layout> base, bool taken_back)
    : base_(std::move(base)), taken_back_(taken_back) {
  stride_ = std::max<std::size_t>(1, (base_.size() + kFleet - 1) / kFleet);
}

void LossWatch::begin() {
  unchanged_.reset();
  as_asked_.reset();
}

// Every stride-th GPU stands for its neighbours and gets every stride-th job, so the load of a GPU
// is that of the fleet, and the cost of watching does not grow with it.
void LossWatch::start(const decide::View& view) {
  const std::size_t gpus = base_.size();
  seen_.clear();
  for (std::uint32_t gpu = 0; stride_ > 1 && gpu < gpus;
       gpu += static_cast<std::uint32_t>(stride_)) {
    seen_.push_back(GpuId{gpu});
  }
  unchanged_ = view.forecaster->what_if_run(seen_);
  as_asked_ = view.forecaster->what_if_run(seen_);
  began_ = looked_ = view.now;
  jobs_ = jobs_at_look_ = 0;
  jobs_there_ = view.jobs.size();
  if (!unchanged_) return;
  base_seen_.clear();
  for (std::uint32_t gpu = 0; gpu < gpus; gpu += static_cast<std::uint32_t>(stride_)) {
    const GpuId place{static_cast<std::uint32_t>(base_seen_.size())};
    base_seen_.push_back(base_[gpu]);
    unchanged_->request(view.now, {place, base_[gpu]});
  }
}

void LossWatch::job_arrived(const decide::ActiveJob& job) {
  if (!unchanged_ || jobs_++ % stride_ != 0) return;
  const workload::Job seen = seen_job(job);
  unchanged_->add_job(seen);
  as_asked_->add_job(seen);
}

void LossWatch::asked(Micros now, std::span<const decide::LayoutRequest> requests) {
  if (!unchanged_) return;
  for (const decide::LayoutRequest& request : requests) {
    if (request.gpu.value % stride_ != 0) continue;
    const GpuId place{request.gpu.value / static_cast<std::uint32_t>(stride_)};
    as_asked_->request(now, {place, request.layout});
  }
}

bool LossWatch::due(const decide::View& view) const {
  if (!unchanged_) return view.forecaster != nullptr;
  const std::uint64_t came = jobs_ - jobs_at_look_;
  return came >= kJobsBetween || (came > 0 && view.now - looked_ >= kBetween);
}

std::optional<Standing> LossWatch::standing(const decide::View& view) {
  if (too_many_jobs(view)) {
    begin();
    return {};
  }
  if (!unchanged_ || view.now - began_ > kStretch) start(view);
  if (!unchanged_) return {};
  looked_ = view.now;
  jobs_at_look_ = jobs_;
  if (jobs_ < kJobsMin || view.now == began_) return {};
  const decide::WhatIfCost base = unchanged_->cost_until(view.now, {});
  const decide::WhatIfCost ours =
      as_asked_->cost_until(view.now, taken_back_ ? std::span<const mig::Layout>(base_seen_)
                                                  : std::span<const mig::Layout>());
  // Energy is weighed by the day and tardiness by the job, as in ET. A stretch shorter than a day
  // counts as a day of such hours: else its energy would weigh less the shorter it is.
  const double days = (view.now - began_).to_seconds() / kDay.to_seconds();
  const double jobs = static_cast<double>(jobs_there_ + jobs_) / static_cast<double>(stride_);
  Standing standing;
  standing.per_joule = view.et_a / 60 / std::min(1.0, days);
  standing.per_tardy_second = 1 / (60 * std::max(1.0, jobs));
  const auto et = [&](const decide::WhatIfCost& cost) {
    return standing.per_joule * cost.energy_j + standing.per_tardy_second * cost.tardiness_s;
  };
  standing.ours = et(ours);
  standing.base = et(base);
  return standing.base > 0 ? std::optional(standing) : std::nullopt;
}

std::vector<GpuId> LossWatch::asked_about(std::span<const decide::LayoutRequest> requests) const {
  std::vector<GpuId> gpus;
  if (stride_ == 1) return gpus;
  gpus = seen_;
  for (const decide::LayoutRequest& request : requests) gpus.push_back(request.gpu);
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return gpus;
}

double LossWatch::added_by(const decide::View& view, const Standing& standing,
                           std::span<const decide::LayoutRequest> requests) const {
  const std::vector<GpuId> gpus = asked_about(requests);
  decide::ForecastQuestion question{
      .requests = {}, .arrivals = {}, .until = view.now + kShadowDrainMax};
  question.gpus = gpus;
  const decide::ForecastCost stay = view.forecaster->forecast(question);
  question.requests = requests;
  const decide::ForecastCost with = view.forecaster->forecast(question);
  const double idle_w =
      view.power.watts.front() * static_cast<double>(gpus.empty() ? base_.size() : gpus.size());
  // The run that ends sooner idles until the other does, or ending soon would look cheap.
  const double joules = with.energy_j - stay.energy_j + idle_w * (with.end - stay.end).to_seconds();
  const double added = standing.per_joule * joules +
                       standing.per_tardy_second * (with.tardiness_s - stay.tardiness_s);
  return added / static_cast<double>(stride_);
}

}  // namespace partita::policies
