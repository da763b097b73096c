#include "policies/learned/slice_scheduler.h"

#include <fmt/format.h>

#include <algorithm>

namespace partita::policies {

void SliceQueue::begin(const decide::View& view) {
  waiting_.clear();
  observation_.clear();
  observation_.rebuild(view.cluster);
}

void SliceQueue::enter(const decide::View& view, JobHandle job) {
  waiting_.add(job);
  observation_.enter(view.jobs[job]);
}

void SliceQueue::leave(const decide::View& view, JobHandle job) {
  waiting_.remove(job);
  observation_.leave(view.jobs[job]);
}

JobHandle SliceQueue::next(const decide::View& view, std::span<std::uint8_t> allowed) const {
  const auto earlier = [&](JobHandle a, JobHandle b) {
    const decide::ActiveJob& first = view.jobs[a];
    const decide::ActiveJob& second = view.jobs[b];
    return first.deadline != second.deadline ? first.deadline < second.deadline
                                             : first.id < second.id;
  };
  const std::uint16_t free = observation_.free_profiles(view, allowed.size());
  JobHandle best;
  for (const JobHandle job : waiting_.all()) {
    if ((view.jobs[job].fits & free) == 0) continue;
    if (!best.valid() || earlier(job, best)) best = job;
  }
  if (best.valid()) observation_.mark_allowed(view, view.jobs[best], allowed);
  return best;
}

void SliceQueue::write(const decide::View& view, JobHandle next, std::size_t width,
                       std::span<float> out) const {
  observation_.write(view, waiting_.all(), view.jobs[next], width, out);
}

decide::Move SliceQueue::place(const decide::View& view, JobHandle job, std::size_t index) {
  leave(view, job);
  observation_.take(index);
  return {job, observation_.slices()[index]};
}

SliceScheduler::SliceScheduler(nn::Model model, PlaceRules rules)
    : model_(std::move(model)),
      rules_(std::move(rules)),
      state_(static_cast<std::size_t>(rules_.inputs())),
      allowed_(rules_.slice_count()) {}

Status SliceScheduler::accepts(const decide::View& view) const {
  if (view.cluster.model->key != rules_.gpu) {
    return Error{fmt::format("the scheduler's model is for {}, not for {}", rules_.gpu,
                             view.cluster.model->key)};
  }
  const std::string sizes = SliceObservation::sizes_text(view.cluster);
  if (sizes != rules_.slices) {
    return Error{
        fmt::format("the scheduler's model is for slices of {}, not of {}", rules_.slices, sizes)};
  }
  return {};
}

void SliceScheduler::job_withdrawn(const decide::View& view, JobHandle job) {
  if (!view.jobs[job].running()) queue_.leave(view, job);
}

void SliceScheduler::job_returned(const decide::View& view, JobHandle job) {
  if (!view.jobs[job].running()) queue_.enter(view, job);
}

void SliceScheduler::decide(const decide::View& view, decide::Decision& decision) {
  queue_.begin_decision();
  for (;;) {
    const JobHandle job = queue_.next(view, allowed_);
    if (!job.valid()) return;
    queue_.write(view, job, allowed_.size(), state_);
    model_.normaliser.apply(state_);
    const std::span<const float> logits = evaluate_(model_.policy, state_);
    std::size_t best = allowed_.size();
    for (std::size_t i = 0; i < allowed_.size(); ++i) {
      if (allowed_[i] == 0) continue;
      if (best == allowed_.size() || logits[i] > logits[best]) best = i;
    }
    decision.moves.push_back(queue_.place(view, job, best));
  }
}

}  // namespace partita::policies
