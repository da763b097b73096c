#include "policies/composed.h"

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

}  // namespace

ComposedScheduler::ComposedScheduler(std::unique_ptr<JobOrder> order,
                                     std::unique_ptr<SliceRule> rule)
    : order_(std::move(order)),
      rule_(std::move(rule)),
      ranked_(dynamic_cast<RankedRule*>(rule_.get())) {}

void ComposedScheduler::begin(const decide::View& view) {
  mode_ = view.preemption.mode;
  // Waiting makes no progress, so in runs whose queue holds only waiting jobs a key that changes
  // with progress is settled too.
  keys_settled_ = order_->key_change() == KeyChange::kNever ||
                  (order_->key_change() == KeyChange::kWithProgress && mode_ != Mode::kFree);
  queue_.clear();
  lone_ = JobHandle{};
  pool_.clear();
  all_profiles_ = static_cast<std::uint16_t>((1U << view.cluster.model->profiles.size()) - 1);
  rule_->rebuild(view);
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
}

void ComposedScheduler::decide(const decide::View& view, decide::Decision& decision) {
  if (mode_ == Mode::kFree) {
    const bool small = ranked_ != nullptr && ranked_->small();
    return small ? place_all(SmallRound(*ranked_), view, decision)
                 : place_all(RuleRound(*rule_), view, decision);
  }
  if (keys_settled_ && !lone_.valid() && queue_.empty()) return;
  place_waiting(view, decision);
  if (!displaced_.empty()) place_displaced(view, decision);
}

void ComposedScheduler::enter(const decide::View& view, JobHandle job) {
  if (!keys_settled_) add_to_pool(job);
  if (mode_ == Mode::kFree) grow_to_hold(placed_in_, job);
  if (!keys_settled_) return;
  if (mode_ == Mode::kNone && queue_.empty() && !lone_.valid()) {
    lone_ = job;
    return;
  }
  queue_lone(view);
  queue_.insert(entry_of(view, job), view.jobs[job].fits);
}

void ComposedScheduler::leave(const decide::View& view, JobHandle job) {
  if (!keys_settled_) return remove_from_pool(job);
  queue_lone(view);
  // The key is computed anew: it depends on nothing that changed since the job entered.
  queue_.erase(entry_of(view, job), view.jobs[job].fits);
}

QueueEntry ComposedScheduler::entry_of(const decide::View& view, JobHandle job) const {
  const decide::ActiveJob& active = view.jobs[job];
  return {order_->key(Candidate(active, view.now)), active.id, job};
}

void ComposedScheduler::queue_lone(const decide::View& view) {
  if (!lone_.valid()) return;
  // Its key is settled: it is now what it was when the job came.
  queue_.insert(entry_of(view, lone_), view.jobs[lone_].fits);
  lone_ = JobHandle{};
}

void ComposedScheduler::add_to_pool(JobHandle job) {
  grow_to_hold(pool_index_, job);
  pool_index_[job.value] = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(job);
}

void ComposedScheduler::remove_from_pool(JobHandle job) {
  const std::uint32_t index = pool_index_[job.value];
  CHECK(pool_[index] == job);
  pool_[index] = pool_.back();
  pool_index_[pool_[index].value] = index;
  pool_.pop_back();
}

void ComposedScheduler::begin_walk(const decide::View& view) {
  if (keys_settled_) return queue_.rewind();
  collect_round(view);
}

// Keys of every job that fits a free slice; a heap gives them in order as far as they are needed.
void ComposedScheduler::collect_round(const decide::View& view) {
  round_.clear();
  candidates_.clear();
  if (mode_ == Mode::kNone && rule_->free_profiles() == 0) return;
  for (const JobHandle job : pool_) candidates_.emplace_back(view.jobs[job], view.now);
  order_->begin_round(candidates_);
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    round_.push_back({order_->key(candidates_[i]), candidates_[i].job.id, pool_[i]});
  }
  std::make_heap(round_.begin(), round_.end(), comes_after);
}

const QueueEntry* ComposedScheduler::next_in_walk() {
  // In cost mode a job may find no idle slice and still displace another.
  const std::uint16_t free = mode_ == Mode::kCost ? 0xffff : free_profiles();
  if (free == 0) return nullptr;
  return keys_settled_ ? queue_.next(free) : next_in_round();
}

const QueueEntry* ComposedScheduler::next_in_round() {
  if (round_.empty()) return nullptr;
  std::pop_heap(round_.begin(), round_.end(), comes_after);
  current_ = round_.back();
  round_.pop_back();
  return &current_;
}

void ComposedScheduler::take_from_walk() {
  if (keys_settled_) return queue_.take();
  remove_from_pool(current_.job);
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
  if (keys_settled_) {
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
  begin_walk(view);
  while (const QueueEntry* entry = next_in_walk()) {
    const Candidate candidate(view.jobs[entry->job], view.now);
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
  for (const JobHandle job : displaced_) {
    SliceId slice;
    if ((rule_->free_profiles() & view.jobs[job].fits) != 0) {
      // As it will be once it has been stopped.
      decide::ActiveJob stopped = view.jobs[job];
      stopped.work = stopped.work_at(view.now);
      stopped.restart = std::max(view.preemption.cost, stopped.overhead(view.now));
      stopped.slice = SliceId{};
      stopped.forget_on_time();
      slice = rule_->claim(Candidate(stopped, view.now));
    }
    decision.moves.push_back({job, slice});
    if (!slice.valid()) enter(view, job);
  }
  displaced_.clear();
}

}  // namespace partita::policies
