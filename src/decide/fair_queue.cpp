#include "decide/fair_queue.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "decide/place_search.h"

namespace partita::decide {
namespace {

using cluster::SliceState;
using Mode = Preemption::Mode;

constexpr std::uint32_t kClosed = static_cast<std::uint32_t>(-2);  // to every queue

template <typename Visit>
void each_profile(std::uint16_t profiles, const Visit& visit) {
  for (unsigned left = profiles; left != 0; left &= left - 1) {
    visit(static_cast<std::size_t>(std::countr_zero(left)));
  }
}

}  // namespace

FairQueue::FairQueue(Make make, UsageBooks& books) : make_(std::move(make)), books_(books) {
  first_ = make_();
  CHECK(first_ != nullptr);
}

Status FairQueue::accepts(const View& view) const {
  return first_ ? first_->accepts(view) : make_()->accepts(view);
}

void FairQueue::begin(const View&) {
  queues_.clear();
  entries_.clear();
  untold_.clear();
}

std::string FairQueue::take_note() {
  std::string notes;
  for (Queue& queue : queues_) {
    if (!queue.scheduler) continue;
    const std::string note = queue.scheduler->take_note();
    if (!note.empty()) notes += (notes.empty() ? "" : "; ") + note;
  }
  return notes;
}

FairQueue::Entry& FairQueue::entry(JobHandle job) {
  if (job.value >= entries_.size()) entries_.resize(std::size_t{job.value} * 2 + 16);
  return entries_[job.value];
}

FairQueue::Queue& FairQueue::queue_of(const View& view, JobHandle job) {
  const UsageBooks::Group group = books_.group_of(view, job);
  if (group >= queues_.size()) queues_.resize(std::size_t{group} + 1);
  Queue& queue = queues_[group];
  if (!queue.scheduler) {
    queue.group = group;
    queue.scheduler = first_ ? std::move(first_) : make_();
    CHECK(queue.scheduler != nullptr);
    queue.scheduler->begin(view);
  }
  entry(job).queue = group;
  return queue;
}

// The job waits.
void FairQueue::enter(const View& view, JobHandle job) {
  leave(job);
  const ActiveJob& active = view.jobs[job];
  Entry& its = entry(job);
  Queue& queue = queues_[its.queue];
  each_profile(active.fits, [&](std::size_t profile) { ++queue.fitting[profile]; });
  its.latest = (active.deadline - least_need(*view.cluster.model, active)).count;
  its.fits = active.fits;
  its.waits = true;
  queue.latest.emplace(its.latest, job.value);
  books_.set_waiting(queue.group, ++queue.waiting);
}

void FairQueue::leave(JobHandle job) {
  Entry& its = entry(job);
  if (!std::exchange(its.waits, false)) return;
  Queue& queue = queues_[its.queue];
  each_profile(its.fits, [&](std::size_t profile) { --queue.fitting[profile]; });
  queue.latest.erase({its.latest, job.value});
  books_.set_waiting(queue.group, --queue.waiting);
}

void FairQueue::forget_untold(JobHandle job) {
  entry(job).told = true;
  std::erase(untold_, job);
}

// Schedulers know the jobs that run, those that were not theirs to start among them.
void FairQueue::tell_started(const View& view) {
  for (const JobHandle job : untold_) {
    entries_[job.value].told = true;
    if (view.jobs[job].running()) {
      queues_[entries_[job.value].queue].scheduler->job_returned(view, job);
    }
  }
  untold_.clear();
}

void FairQueue::job_arrived(const View& view, JobHandle job) {
  forget_untold(job);
  Queue& queue = queue_of(view, job);
  enter(view, job);
  queue.scheduler->job_arrived(view, job);
}

void FairQueue::job_stopped(const View& view, JobHandle job) {
  if (entry(job).queue == kNone) return job_arrived(view, job);
  const bool told = entry(job).told;
  forget_untold(job);
  enter(view, job);
  Scheduler& scheduler = *queues_[entries_[job.value].queue].scheduler;
  return told ? scheduler.job_stopped(view, job) : scheduler.job_arrived(view, job);
}

void FairQueue::job_done(const View& view, JobHandle job) {
  if (entry(job).queue == kNone) return;
  const bool told = entry(job).told;
  forget_untold(job);
  const std::uint32_t queue = std::exchange(entries_[job.value].queue, kNone);
  if (!told) return;
  // The slice is not to be given back to a scheduler that may not know that it was taken: each
  // looks at all slices before it decides. Where jobs move freely it keeps no books of slices.
  Scheduler& scheduler = *queues_[queue].scheduler;
  if (view.preemption.mode == Mode::kFree) return scheduler.job_done(view, job);
  scheduler.job_withdrawn(view, job);
}

void FairQueue::job_withdrawn(const View& view, JobHandle job) {
  if (entry(job).queue == kNone) return;  // it ran before there was a queue
  const bool told = entry(job).told;
  forget_untold(job);
  leave(job);
  const std::uint32_t queue = std::exchange(entries_[job.value].queue, kNone);
  if (told) queues_[queue].scheduler->job_withdrawn(view, job);
}

void FairQueue::job_returned(const View& view, JobHandle job) {
  forget_untold(job);
  Queue& queue = queue_of(view, job);
  if (!view.jobs[job].running()) enter(view, job);
  queue.scheduler->job_returned(view, job);
}

// ---- deciding

void FairQueue::look_at_slices(const View& view) {
  state_ = view.cluster;
  queue_on_.assign(state_->slices.size(), kNone);
  free_at_.fill(Micros::max());
  for (Queue& queue : queues_) queue.running = 0;
  for (std::size_t i = 0; i < state_->slices.size(); ++i) {
    const cluster::Slice& slice = state_->slices[i];
    if (slice.state != SliceState::kBusy) continue;
    const ActiveJob& job = view.jobs[slice.job];
    const std::uint32_t queue =
        slice.job.value < entries_.size() ? entries_[slice.job.value].queue : kNone;
    const bool known = !job.endless() && queue != kNone && !slice.closing;
    queue_on_[i] = known ? queue : kClosed;
    if (known) ++queues_[queue].running;
    if (slice.closing || job.endless()) continue;
    const Micros free = std::max(job.finish, view.now + Micros{1});
    free_at_[slice.profile] = std::min(free_at_[slice.profile], free);
  }
}

bool FairQueue::finds_idle(const Queue& queue) const {
  return std::ranges::any_of(state_->slices, [&](const cluster::Slice& slice) {
    return slice.open() && queue.fitting[slice.profile] > 0;
  });
}

void FairQueue::decide(const View& view, Decision& decision) {
  tell_started(view);
  look_at_slices(view);
  const bool interrupts = view.preemption.mode != Mode::kNone;
  order_.clear();
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    const bool some = queues_[i].waiting > 0 || (interrupts && queues_[i].running > 0);
    if (some && queues_[i].scheduler) order_.push_back(i);
  }
  const auto priority = [&](std::uint32_t queue) {
    return books_.owner(queues_[queue].group).priority;
  };
  std::ranges::stable_sort(order_, std::greater{}, priority);
  for (std::size_t begin = 0; begin < order_.size();) {
    std::size_t end = begin;
    while (end < order_.size() && priority(order_[end]) == priority(order_[begin])) ++end;
    serve_class(view, std::span(order_).subspan(begin, end - begin), decision);
    begin = end;
  }
}

// Queues of one priority. Where jobs may be moved freely a scheduler places all that it knows each
// time it is asked, so it is asked once, with the slices that are its own.
void FairQueue::serve_class(const View& view, std::span<const std::uint32_t> queues,
                            Decision& decision) {
  const auto first = [&](std::uint32_t a, std::uint32_t b) {
    return books_.before(queues_[a].group, queues_[b].group, view.now);
  };
  left_.assign(queues.begin(), queues.end());
  std::ranges::stable_sort(left_, first);
  for (const std::uint32_t queue : left_) start_urgent(view, queue, decision);
  const bool free = view.preemption.mode == Mode::kFree;
  given_.clear();
  if (free) share_out_idle(view, queues);
  const bool interrupts = view.preemption.mode != Mode::kNone;
  asked_.assign(queues_.size(), 0);
  while (!left_.empty()) {
    const std::uint32_t queue = *std::ranges::min_element(left_, first);
    // Each is asked once what it would do with jobs that run; then only idle slices matter.
    const bool once = interrupts && std::exchange(asked_[queue], 1) == 0;
    const bool all = free || left_.size() == 1;
    const bool ask = once || finds_idle(queues_[queue]);
    if (!ask || !serve(view, queue, all, decision)) std::erase(left_, queue);
  }
}

// Each idle slice to the user who is to go first, of those with a job for it.
void FairQueue::share_out_idle(const View& view, std::span<const std::uint32_t> queues) {
  given_.assign(state_->slices.size(), kNone);
  std::vector<std::size_t> got(queues_.size(), 0);
  for (std::uint32_t i = 0; i < given_.size(); ++i) {
    const cluster::Slice& slice = state_->slices[i];
    if (!slice.open()) continue;
    for (const std::uint32_t queue : queues) {
      const Queue& its = queues_[queue];
      if (its.fitting[slice.profile] == 0 || got[queue] >= its.waiting) continue;
      const bool better =
          given_[i] == kNone || books_.before(its.group, queues_[given_[i]].group, view.now);
      if (better) given_[i] = queue;
    }
    if (given_[i] == kNone) continue;
    ++got[given_[i]];
    books_.expect_start(view, queues_[given_[i]].group, SliceId{i});
  }
}

void FairQueue::show_to(std::uint32_t queue) {
  shown_ = *state_;
  for (std::size_t i = 0; i < shown_->slices.size(); ++i) {
    cluster::Slice& slice = shown_->slices[i];
    if (slice.state == SliceState::kBusy && queue_on_[i] != queue) slice.closing = true;
    if (slice.open() && !given_.empty() && given_[i] != queue) slice.closing = true;
  }
}

bool FairQueue::serve(const View& view, std::uint32_t queue, bool all, Decision& decision) {
  show_to(queue);
  View part{.now = view.now,
            .cluster = *shown_,
            .jobs = view.jobs,
            .preemption = view.preemption,
            .power = view.power,
            .et_a = view.et_a,
            .forecaster = view.forecaster};
  Scheduler& scheduler = *queues_[queue].scheduler;
  scheduler.layout_changed(part);
  inner_.moves.clear();
  scheduler.decide(part, inner_);
  bool started = false;
  bool interrupted = false;
  for (const Move& move : inner_.moves) {
    const bool waited = !view.jobs[move.job].running();
    const bool plain = waited && move.to.valid() && shown_->slice(move.to).open();
    if (plain && started && !all) {  // others are to be asked first
      scheduler.job_returned(part, move.job);
      continue;
    }
    if (plain) books_.expect_start(view, queues_[queue].group, move.to);
    started = started || plain;
    interrupted = interrupted || !plain;
    if (move.to.valid()) {
      leave(move.job);
    } else {
      enter(view, move.job);
    }
    decision.moves.push_back(move);
    apply(view, move);
  }
  // The view shows jobs that were interrupted as running still, so it is not asked again.
  return started && !all && !interrupted;
}

// What this decision gives to a job is closed to all for the rest of it.
void FairQueue::apply(const View& view, const Move& move) {
  const auto count = [&](SliceId slice, int sign) {
    cluster::Gpu& gpu = state_->gpus[cluster::gpu_of(slice).value];
    const cluster::Slice& its = state_->slices[slice.value];
    gpu.busy_compute_slices =
        static_cast<std::uint8_t>(gpu.busy_compute_slices + sign * its.compute_slices);
    gpu.busy_memory_slices =
        static_cast<std::uint8_t>(gpu.busy_memory_slices + sign * its.memory_slices);
  };
  const SliceId from = view.jobs[move.job].slice;
  if (from.valid() && state_->slices[from.value].job == move.job) {
    state_->slices[from.value].state = SliceState::kIdle;
    state_->slices[from.value].job = {};
    queue_on_[from.value] = kNone;
    count(from, -1);
  }
  if (!move.to.valid()) return;
  cluster::Slice& to = state_->slices[move.to.value];
  if (to.state == SliceState::kIdle) count(move.to, 1);
  to.state = SliceState::kBusy;
  to.job = move.job;
  queue_on_[move.to.value] = kClosed;
}

// An idle slice on which the job is on time, if it would not be on any that is free next.
SliceId FairQueue::urgent_slice(const View& view, const ActiveJob& job) const {
  bool can_wait = false;
  each_profile(job.fits, [&](std::size_t profile) {
    if (free_at_[profile] == Micros::max()) return;
    const Micros need = need_on(job, size_index_of(*view.cluster.model, profile));
    can_wait = can_wait || free_at_[profile] + need <= job.deadline;
  });
  if (can_wait) return {};
  SliceId best;
  for (std::uint32_t i = 0; i < state_->slices.size(); ++i) {
    const cluster::Slice& slice = state_->slices[i];
    if (!slice.open() || (job.fits >> slice.profile & 1U) == 0) continue;
    if (view.now + need_on(job, slice.size_index) > job.deadline) continue;
    const bool smaller = !best.valid() || slice.compute_slices < state_->slice(best).compute_slices;
    if (smaller) best = SliceId{i};
  }
  return best;
}

void FairQueue::start_urgent(const View& view, std::uint32_t queue, Decision& decision) {
  Queue& its = queues_[queue];
  if (its.waiting == 0 || !finds_idle(its)) return;
  auto each = its.latest.lower_bound({view.now.count, 0});
  for (int looks = 0; looks < kUrgentLooksMax && each != its.latest.end(); ++looks) {
    const JobHandle job{(each++)->second};
    if (!books_.below_share(books_.owner(its.group).user, view.now)) return;
    const SliceId slice = urgent_slice(view, view.jobs[job]);
    if (!slice.valid()) continue;
    leave(job);
    its.scheduler->job_withdrawn(view, job);
    entries_[job.value].told = false;
    untold_.push_back(job);
    books_.expect_start(view, its.group, slice);
    decision.moves.push_back({job, slice});
    apply(view, decision.moves.back());
  }
}

std::string_view name_of(FairOrder order) {
  switch (order) {
    case FairOrder::kOff:
      return "off";
    case FairOrder::kPriority:
      return "priority";
    case FairOrder::kSliceSeconds:
      return "slice-seconds";
    case FairOrder::kJoules:
      return "joules";
  }
  return {};
}

}  // namespace partita::decide
