#include "policies/schedulers/composed.h"

#include <algorithm>

#include "base/check.h"

namespace partita::policies {
namespace {

// For std heaps, which keep the largest in front.
bool comes_after(const QueueEntry& a, const QueueEntry& b) {
  return b.before(a);
}

void grow_to_hold(std::vector<std::uint32_t>& table, JobHandle job) {
  if (job.value >= table.size()) table.resize(std::size_t{job.value} * 2 + 16, 0);
}

// A preemptive round of any rule; SmallRound is the fast one.
class RuleRound {
 public:
  explicit RuleRound(SliceRule& rule) : rule_(rule) { rule_.free_all(); }

  bool any_free(std::uint16_t fits) const { return (rule_.free_profiles() & fits) != 0; }
  SliceId claim(const Candidate& candidate) { return rule_.claim(candidate); }

 private:
  SliceRule& rule_;
};

// A job that was displaced and then found a slice after all moves once.
void join_moves(const std::vector<std::pair<JobHandle, decide::ActiveJob>>& stopped,
                decide::Decision& decision) {
  for (const auto& [job, record] : stopped) {
    const auto last =
        std::ranges::find(decision.moves.rbegin(), decision.moves.rend(), job, &decide::Move::job);
    if (!last->to.valid()) continue;
    decision.moves.erase(std::ranges::find(decision.moves, job, &decide::Move::job));
  }
}

}  // namespace

ComposedScheduler::ComposedScheduler(std::unique_ptr<JobOrder> order,
                                     std::unique_ptr<SliceRule> rule)
    : order_(std::move(order)),
      rule_(std::move(rule)),
      ranked_(dynamic_cast<RankedRule*>(rule_.get())) {}

void ComposedScheduler::begin(const decide::View& view) {
  mode_ = view.preemption.mode;
  keeping_ = Keeping::kPool;
  const bool only_waiting = mode_ == Mode::kNone || mode_ == Mode::kPays;
  // Waiting makes no progress, so in runs whose queue holds only waiting jobs a key that changes
  // with progress is settled too.
  const bool settled = order_->key_change() == KeyChange::kNever ||
                       (order_->key_change() == KeyChange::kWithProgress && mode_ != Mode::kFree);
  if (settled) keeping_ = Keeping::kQueue;
  if (order_->is_modified_due_date() && only_waiting && !rule_->may_wait()) {
    keeping_ = Keeping::kDueDates;
  }
  queue_.clear();
  due_dates_.begin(*view.cluster.model);
  profiles_ = ProfilesBySize(*view.cluster.model);
  lone_ = JobHandle{};
  pool_.clear();
  all_profiles_ = static_cast<std::uint16_t>((1U << view.cluster.model->profiles.size()) - 1);
  layout_changed(view);
}

void ComposedScheduler::job_arrived(const decide::View& view, JobHandle job) {
  enter(view, job);
}

void ComposedScheduler::job_stopped(const decide::View& view, JobHandle job) {
  if (mode_ != Mode::kFree) enter(view, job);
}

void ComposedScheduler::job_done(const decide::View& view, JobHandle job) {
  if (mode_ == Mode::kFree) return leave(view, job);
  rule_->release(view.jobs[job].slice);
}

void ComposedScheduler::job_withdrawn(const decide::View& view, JobHandle job) {
  if (mode_ == Mode::kFree || !view.jobs[job].running()) leave(view, job);
}

void ComposedScheduler::job_returned(const decide::View& view, JobHandle job) {
  if (mode_ == Mode::kFree || !view.jobs[job].running()) enter(view, job);
}

void ComposedScheduler::layout_changed(const decide::View& view) {
  rule_->rebuild(view);
  offered_ = 0;
  for (const cluster::Slice& slice : view.cluster.slices) {
    if (!slice.exists() || slice.closing) continue;
    offered_ = static_cast<std::uint16_t>(offered_ | (1U << slice.profile));
  }
}

void ComposedScheduler::decide(const decide::View& view, decide::Decision& decision) {
  if (mode_ == Mode::kFree) {
    const bool small = ranked_ != nullptr && ranked_->small();
    return small ? place_all(SmallRound(*ranked_), view, decision)
                 : place_all(RuleRound(*rule_), view, decision);
  }
  if (!nothing_waits()) place_waiting(view, decision);
  if (!displaced_.empty()) place_displaced(view, decision);
  if (mode_ == Mode::kPays) preempt_where_it_pays(view, decision);
}

bool ComposedScheduler::nothing_waits() const {
  return !lone_.valid() && queue_.empty() && due_dates_.empty() && pool_.empty();
}

void ComposedScheduler::enter(const decide::View& view, JobHandle job,
                              const decide::ActiveJob& waiting) {
  if (mode_ == Mode::kFree) grow_to_hold(placed_in_, job);
  if (keeping_ == Keeping::kPool) return pool_.add(job);
  const bool only_waiting = mode_ == Mode::kNone || mode_ == Mode::kPays;
  if (only_waiting && nothing_waits() && !waiting.running() && !view.jobs[job].running()) {
    lone_ = job;
    return;
  }
  queue_lone(view);
  if (keeping_ == Keeping::kDueDates) return due_dates_.insert(job, waiting);
  const std::int64_t key = order_->key(Candidate(waiting, view.now));
  queue_.insert({key, waiting.id, job}, waiting.fits);
}

void ComposedScheduler::leave(const decide::View& view, JobHandle job) {
  if (keeping_ == Keeping::kPool) return pool_.remove(job);
  queue_lone(view);
  if (keeping_ == Keeping::kDueDates) return due_dates_.erase(job);
  // The key is computed anew: it depends on nothing that changed since the job entered.
  queue_.erase(entry_of(view, job), view.jobs[job].fits);
}

QueueEntry ComposedScheduler::entry_of(const decide::View& view, JobHandle job) const {
  const decide::ActiveJob& active = view.jobs[job];
  return {order_->key(Candidate(active, view.now, sizes_for(active))), active.id, job};
}

// The sizes whose times the order may compare (JobOrder::by_slice).
unsigned ComposedScheduler::sizes_for(const decide::ActiveJob& job) const {
  if (!order_->by_slice()) return Candidate::kAllSizes;
  const bool displaces = mode_ == Mode::kFree || mode_ == Mode::kCost;
  return profiles_.sizes_of((displaces ? offered_ : free_profiles()) & job.fits);
}

void ComposedScheduler::queue_lone(const decide::View& view) {
  if (!lone_.valid()) return;
  if (keeping_ == Keeping::kDueDates) {
    due_dates_.insert(lone_, view.jobs[lone_]);
  } else {
    // Its key is settled: it is now what it was when the job came.
    queue_.insert(entry_of(view, lone_), view.jobs[lone_].fits);
  }
  lone_ = JobHandle{};
}

void ComposedScheduler::begin_walk(const decide::View& view) {
  if (keeping_ == Keeping::kQueue) return queue_.rewind();
  collect_round(view);
}

// Keys of every job that could get a slice; a heap gives them in order as far as they are needed.
void ComposedScheduler::collect_round(const decide::View& view) {
  round_.clear();
  candidates_.clear();
  round_free_ = mode_ == Mode::kFree ? offered_ : free_profiles();
  const bool displaces = mode_ == Mode::kCost;
  if (!displaces && round_free_ == 0) return;
  for (const JobHandle job : pool_.jobs()) {
    const decide::ActiveJob& active = as_it_waits(view, job);
    candidates_.emplace_back(active, view.now, sizes_for(active));
  }
  order_->begin_round(candidates_);
  for (std::size_t i = 0; i < pool_.jobs().size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (candidate.sizes == 0) continue;
    const bool finds_free = (candidate.job.fits & round_free_) != 0;
    // A job that is late wherever it goes displaces nobody.
    if (!finds_free && (!displaces || candidate.on_time_sizes() == 0)) continue;
    round_.push_back({order_->key(candidate), candidate.job.id, pool_.jobs()[i]});
  }
  std::make_heap(round_.begin(), round_.end(), comes_after);
}

const QueueEntry* ComposedScheduler::next_in_walk(const decide::View& view) {
  // In cost mode a job may find no idle slice and still displace another.
  const std::uint16_t free = mode_ == Mode::kCost ? 0xffff : free_profiles();
  if (free == 0) return nullptr;
  if (keeping_ == Keeping::kQueue) return queue_.next(free);
  // Keys by the free slices are others once the last slice of a profile is taken.
  if (order_->by_slice() && mode_ != Mode::kCost && free != round_free_) collect_round(view);
  return next_in_round();
}

const QueueEntry* ComposedScheduler::next_in_round() {
  if (round_.empty()) return nullptr;
  std::pop_heap(round_.begin(), round_.end(), comes_after);
  current_ = round_.back();
  round_.pop_back();
  return &current_;
}

void ComposedScheduler::take_from_walk() {
  if (keeping_ == Keeping::kQueue) return queue_.take();
  pool_.remove(current_.job);
}

template <typename Round>
void ComposedScheduler::place_all(Round round, const decide::View& view,
                                  decide::Decision& decision) {
  ++round_number_;
  const auto place = [&](const QueueEntry& entry) __attribute__((always_inline)) {
    const decide::ActiveJob& job = view.jobs[entry.job];
    const SliceId slice = round.claim(Candidate(job, view.now));
    if (!slice.valid()) return;
    placed_in_[entry.job.value] = round_number_;
    if (slice != job.slice) decision.moves.push_back({entry.job, slice});
  };
  if (keeping_ == Keeping::kQueue) {
    queue_.walk([&](std::uint16_t fits) { return round.any_free(fits); }, place);
  } else {
    collect_round(view);
    while (round.any_free(all_profiles_)) {
      const QueueEntry* entry = next_in_round();
      if (entry == nullptr) break;
      place(*entry);
    }
  }
  rest_displaced(view, decision);
}

// Jobs whose slice another got and that got none themselves.
void ComposedScheduler::rest_displaced(const decide::View& view, decide::Decision& decision) const {
  const std::size_t placed = decision.moves.size();
  for (std::size_t i = 0; i < placed; ++i) {
    const JobHandle occupant = view.cluster.slice(decision.moves[i].to).job;
    if (!occupant.valid() || placed_in_[occupant.value] == round_number_) continue;
    decision.moves.push_back({occupant, SliceId{}});
  }
}

// RankedRule is final and its claim stands in its header, so these calls are inlined for it.
SliceId ComposedScheduler::claim(const Candidate& candidate) {
  return ranked_ != nullptr ? ranked_->claim(candidate) : rule_->claim(candidate);
}

std::uint16_t ComposedScheduler::free_profiles() const {
  return ranked_ != nullptr ? ranked_->free_profiles() : rule_->free_profiles();
}

void ComposedScheduler::place_waiting(const decide::View& view, decide::Decision& decision) {
  if (lone_.valid()) {
    const SliceId slice = claim(Candidate(view.jobs[lone_], view.now));
    if (!slice.valid()) return queue_lone(view);
    decision.moves.push_back({lone_, slice});
    lone_ = JobHandle{};
    return;
  }
  if (keeping_ == Keeping::kDueDates) return place_due(view, decision);
  begin_walk(view);
  while (const QueueEntry* entry = next_in_walk(view)) {
    const Candidate candidate(as_it_waits(view, entry->job), view.now);
    const SliceId slice = claim(candidate);
    if (mode_ == Mode::kCost && displace_for(view, *entry, candidate, slice, decision)) {
      if (slice.valid()) rule_->release(slice);
      take_from_walk();
      continue;
    }
    if (!slice.valid()) continue;
    decision.moves.push_back({entry->job, slice});
    take_from_walk();
  }
}

bool ComposedScheduler::displace_for(const decide::View& view, const QueueEntry& entry,
                                     const Candidate& candidate, SliceId idle,
                                     decide::Decision& decision) {
  if (idle.valid() && candidate.on_time(view.cluster.slice(idle).size_index)) return false;
  const SliceId slice = slice_to_displace(view, entry, candidate);
  if (!slice.valid()) return false;
  displaced_.push_back(view.cluster.slice(slice).job);
  decision.moves.push_back({entry.job, slice});
  return true;
}

SliceId ComposedScheduler::slice_to_displace(const decide::View& view, const QueueEntry& entry,
                                             const Candidate& candidate) const {
  SliceId best;
  if (candidate.on_time_sizes() == 0) return best;
  QueueEntry last = entry;
  for (std::uint32_t i = 0; i < view.cluster.slices.size(); ++i) {
    const cluster::Slice& slice = view.cluster.slices[i];
    if (slice.state != cluster::SliceState::kBusy || slice.closing) continue;
    if ((candidate.job.fits >> slice.profile & 1U) == 0) continue;
    if (!candidate.on_time(slice.size_index)) continue;
    if (std::find(displaced_.begin(), displaced_.end(), slice.job) != displaced_.end()) continue;
    const QueueEntry running = entry_of(view, slice.job);
    if (!last.before(running)) continue;
    last = running;
    best = SliceId{i};
  }
  return best;
}

void ComposedScheduler::place_displaced(const decide::View& view, decide::Decision& decision) {
  std::sort(displaced_.begin(), displaced_.end(),
            [&](JobHandle a, JobHandle b) { return entry_of(view, a).before(entry_of(view, b)); });
  for (const JobHandle job : displaced_) place_stopped(view, job, decision);
  displaced_.clear();
}

// A displaced job goes to an idle slice or waits.
void ComposedScheduler::place_stopped(const decide::View& view, JobHandle job,
                                      decide::Decision& decision) {
  // As it will be once it has been stopped.
  decide::ActiveJob stopped = view.jobs[job];
  stopped.work = stopped.work_at(view.now);
  stopped.restart = std::max(view.preemption.cost, stopped.overhead(view.now));
  stopped.slice = SliceId{};
  stopped.forget_on_time();
  SliceId slice;
  if ((rule_->free_profiles() & stopped.fits) != 0) {
    slice = rule_->claim(Candidate(stopped, view.now));
  }
  decision.moves.push_back({job, slice});
  if (slice.valid()) return;
  enter(view, job, stopped);
  if (mode_ == Mode::kPays) stopped_.emplace_back(job, stopped);
}

// The view shows a job that was displaced in this decision as running still.
const decide::ActiveJob& ComposedScheduler::as_it_waits(const decide::View& view,
                                                        JobHandle job) const {
  const decide::ActiveJob& active = view.jobs[job];
  if (mode_ != Mode::kPays || !active.running()) return active;
  const auto stopped =
      std::ranges::find(stopped_, job, &std::pair<JobHandle, decide::ActiveJob>::first);
  CHECK(stopped != stopped_.end());
  return stopped->second;
}

void ComposedScheduler::place_due(const decide::View& view, decide::Decision& decision) {
  while (const std::uint16_t free = free_profiles()) {
    const JobHandle job = due_dates_.first(view.now, free);
    if (!job.valid()) return;
    decision.moves.push_back({job, claim(Candidate(as_it_waits(view, job), view.now))});
    due_dates_.erase(job);
  }
}

void ComposedScheduler::preempt_where_it_pays(const decide::View& view,
                                              decide::Decision& decision) {
  stopped_.clear();
  if (!PreemptionPlanner::any_movable(view)) return;
  planner_.begin(view);
  for (const decide::Move& move : decision.moves) planner_.started(view, move.job, move.to);
  upgrade_late(view, decision);
  for (int i = 0; i < PreemptionPlanner::kDisplacementsMax; ++i) {
    queue_lone(view);
    list_waiting(view);
    const auto best = planner_.best_displacement(view, waiting_);
    if (!best) break;
    if (best->left.valid()) {
      rule_->release(best->left);
      const auto start = std::ranges::find(decision.moves, best->job, &decide::Move::job);
      if (start != decision.moves.end()) decision.moves.erase(start);
    } else {
      leave(view, best->job);
    }
    decision.moves.push_back({best->job, best->slice});
    planner_.displaced(view, *best);
    const std::size_t before = decision.moves.size();
    place_stopped(view, best->victim, decision);
    if (!nothing_waits()) place_waiting(view, decision);
    for (std::size_t at = before; at < decision.moves.size(); ++at) {
      const decide::Move& moved = decision.moves[at];
      if (moved.to.valid()) planner_.started(view, moved.job, moved.to);
    }
  }
  join_moves(stopped_, decision);
}

void ComposedScheduler::upgrade_late(const decide::View& view, decide::Decision& decision) {
  bool any = false;
  while (const auto upgrade = planner_.best_upgrade(view)) {
    decision.moves.push_back({upgrade->job, upgrade->to});
    rule_->occupy(upgrade->to);
    rule_->release(view.jobs[upgrade->job].slice);
    planner_.upgraded(view, *upgrade);
    any = true;
  }
  if (!any || nothing_waits()) return;
  const std::size_t before = decision.moves.size();
  place_waiting(view, decision);
  for (std::size_t i = before; i < decision.moves.size(); ++i) {
    planner_.started(view, decision.moves[i].job, decision.moves[i].to);
  }
}

// The first waiting jobs in order, with the times on the slices that the layouts offer.
void ComposedScheduler::list_waiting(const decide::View& view) {
  constexpr std::size_t kCount = PreemptionPlanner::kProjected;
  waiting_.clear();
  if (keeping_ == Keeping::kDueDates) return due_dates_.list(view.now, offered_, kCount, waiting_);
  if (keeping_ == Keeping::kQueue) {
    queue_.rewind();
    while (waiting_.size() < kCount) {
      const QueueEntry* entry = queue_.next(offered_);
      if (entry == nullptr) return;
      waiting_.push_back(entry->job);
    }
    return;
  }
  candidates_.clear();
  round_.clear();
  for (const JobHandle job : pool_.jobs()) {
    const decide::ActiveJob& active = as_it_waits(view, job);
    candidates_.emplace_back(active, view.now, profiles_.sizes_of(offered_ & active.fits));
  }
  order_->begin_round(candidates_);
  for (std::size_t i = 0; i < pool_.jobs().size(); ++i) {
    if (candidates_[i].sizes == 0) continue;
    round_.push_back({order_->key(candidates_[i]), candidates_[i].job.id, pool_.jobs()[i]});
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(kCount, round_.size()));
  std::partial_sort(round_.begin(), round_.begin() + count, round_.end(),
                    [](const QueueEntry& a, const QueueEntry& b) { return a.before(b); });
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    waiting_.push_back(round_[static_cast<std::size_t>(i)].job);
  }
}

}  // namespace partita::policies
