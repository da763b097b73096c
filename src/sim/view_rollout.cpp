#include "sim/view_rollout.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::sim {
namespace {

RunOptions options_of(const decide::View& view, RepartitionCost cost) {
  RunOptions options;
  options.model = view.cluster.model;
  options.gpus = view.cluster.gpu_count();
  options.power = &view.power;
  options.preemption = view.preemption;
  options.repartition_cost = cost;
  options.et_a = view.et_a;
  return options;
}

}  // namespace

ViewRollout::Origin::Origin(const decide::View& view, RepartitionCost cost,
                            decide::Scheduler& scheduler)
    : options(options_of(view, cost)),
      clock(options, scheduler),
      rollout(clock, options, scheduler) {}

void ViewRollout::take_position(const decide::View& view,
                                std::span<const decide::LayoutCourse> courses,
                                decide::Outlook outlook) {
  view_ = &view;
  courses_ = courses;
  outlook_ = std::move(outlook);
  laid_out_ = false;
}

// Not before a question: most turns of a policy ask none.
void ViewRollout::lay_out() {
  CHECK(view_ != nullptr);
  if (laid_out_) return;
  if (!origin_) {
    origin_ = std::make_unique<Origin>(*view_, cost_, *scheduler_);
    fits_.emplace(*view_->cluster.model);
  }
  CHECK(origin_->options.gpus == view_->cluster.gpu_count());
  origin_->clock.take_view(*view_, courses_, limits_.waiting_max, outlook_);
  laid_out_ = true;
}

// What a job needs is a float by now, and may be rounded above the largest slice; a job that fits
// nowhere would wait for ever.
std::span<const workload::Job> ViewRollout::arrivals_of(const decide::ForecastQuestion& question) {
  const auto first =
      question.arrivals.first(std::min(question.arrivals.size(), limits_.arrivals_max));
  const auto fits = [&](const workload::Job& job) { return (*fits_)(job) != 0; };
  if (std::ranges::all_of(first, fits)) return first;
  arrivals_.assign(first.begin(), first.end());
  for (workload::Job& job : arrivals_) {
    if (!fits(job)) job.memory_gib = std::nextafter(job.memory_gib, 0.0F);
  }
  std::erase_if(arrivals_, [&](const workload::Job& job) { return !fits(job); });
  return arrivals_;
}

std::unique_ptr<decide::WhatIfRun> ViewRollout::what_if_run(std::span<const GpuId> gpus) {
  lay_out();
  return origin_->rollout.what_if_run(gpus);
}

decide::ForecastCost ViewRollout::forecast(const decide::ForecastQuestion& question) {
  lay_out();
  requests_.clear();
  for (const decide::LayoutRequest& request : question.requests) {
    if (!courses_[request.gpu.value].fixed) requests_.push_back(request);
  }
  decide::ForecastQuestion asked = question;
  asked.requests = requests_;
  asked.arrivals = arrivals_of(question);
  return origin_->rollout.forecast(asked);
}

}  // namespace partita::sim
