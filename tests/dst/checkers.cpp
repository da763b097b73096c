// What must hold after every step of a simulated run; the numbers are those of
// docs/concepts/live.md.
#include <fmt/format.h>

#include <algorithm>

#include "dst/world.h"

namespace partita::dst {
namespace {

using control::JobState;

// Whether arrows lead from one state to the other, over any number of states.
bool reachable(JobState from, JobState to) {
  std::set<JobState> seen{from};
  std::vector<JobState> open{from};
  while (!open.empty()) {
    const JobState state = open.back();
    open.pop_back();
    for (std::size_t i = 0; i < control::kJobStates; ++i) {
      const auto next = static_cast<JobState>(i);
      if (control::may_move(state, next) && seen.insert(next).second) open.push_back(next);
    }
  }
  return seen.contains(to);
}

}  // namespace

// What wants a step at once after a step would never sleep.
void World::check_rest() {
  if (unwritten_) return;  // it is not asked
  const auto wake = controller_->next_wake();
  if (wake && *wake <= now_) wrong("the controller does not rest; " + description());
}

void World::check_step() {
  // What the controller believes is not the truth before it is written, and nobody was told.
  if (unwritten_) return check_slices();
  check_jobs();
  check_claims();
  check_totals();
  check_slices();
  check_processes();
  check_drains();
  if (step_ % 20 == 0) check_store();
}

// I1, I2: an accepted job is there, and moves along the arrows.
void World::check_jobs() {
  for (const JobNumber id : acknowledged_) {
    const control::Job* job = controller_->find(id);
    if (job == nullptr) return wrong(fmt::format("job {} is lost", id));
    const auto before = seen_.find(id);
    if (before != seen_.end() && before->second != job->state() &&
        (!reachable(before->second, job->state()) ||
         (control::has_ended(before->second) && !requeued_.contains(id)))) {
      wrong(fmt::format("job {} went from {} to {}", id, control::name_of(before->second),
                        control::name_of(job->state())));
    }
    seen_[id] = job->state();
    const auto last = processes_.find({id, job->progress.attempt});
    if (job->state() == JobState::kFailed && last != processes_.end() &&
        last->second.exit_code == 143) {
      wrong(fmt::format("job {} was stopped by us and is failed", id));
    }
    if (job->state() == JobState::kFailed && last != processes_.end() && last->second.no_space) {
      wrong(fmt::format("job {} had no space to begin and is failed", id));
    }
    const bool should_be_done = truth_of(id).succeeded && control::has_ended(job->state());
    const bool left_alone = !cancelled_.contains(id) && !requeued_.contains(id);
    if (should_be_done && job->state() != JobState::kDone && left_alone) {
      // A stop may have come too late; but then its success was seen, unless the machine went down.
      if (!faults_.reboots && !faults_.gpus_lost && !faults_.slices_vanish) {
        wrong(fmt::format("job {} succeeded and is {}", id, control::name_of(job->state())));
      }
    }
  }
  std::set<std::string> keys;
  for (const auto& [id, job] : controller_->jobs()) {
    if (!job.key.empty() && keys.contains(job.key)) {
      const auto known = answered_.find(job.key);
      if (known != answered_.end() && std::ranges::find(known->second, id) == known->second.end()) {
        wrong(fmt::format("the key {} made job {} twice", job.key, id));
      }
    }
    keys.insert(job.key);
    check_attempts(job);
  }
}

// I16: what succeeded does not run again, what ran out of memory gets more, and a job that is not
// to be started again is not, unless somebody asked for it.
void World::check_attempts(const control::Job& job) {
  if (requeued_.contains(job.id)) return;
  const auto of = [&](const std::string& name) {
    return model_->profiles[*mig::parse_profile(*model_, name)].memory_gib;
  };
  for (std::size_t i = 1; i < job.attempts.size(); ++i) {
    const auto& last = job.attempts[i - 1];
    if (last.exit_code == 0) wrong(fmt::format("job {} succeeded and runs again", job.id));
    if (last.outcome == store::AttemptOutcome::kOutOfMemory &&
        of(job.attempts[i].profile) <= of(last.profile)) {
      wrong(fmt::format("job {} was out of memory and is given no more", job.id));
    }
    if (job.spec.no_requeue && last.outcome != store::AttemptOutcome::kNotStarted) {
      wrong(fmt::format("job {} is not to be started again and is", job.id));
    }
  }
}

// What was counted never shrinks, whatever crashes and however many jobs are forgotten; and of
// every job that ended one was counted.
void World::check_totals() {
  std::map<control::JobState, double> ended;
  for (const auto& [key, value] : controller_->totals().all()) {
    double& before = counted_[key];
    if (value < before) wrong(fmt::format("the total {} of {} shrank", key.second, key.first));
    before = value;
    if (!key.second.starts_with("ended.")) continue;
    ended[*control::job_state_of(std::string_view(key.second).substr(6))] += value;
  }
  for (std::size_t i = 0; i < control::kJobStates; ++i) {
    const auto state = static_cast<JobState>(i);
    if (!control::has_ended(state)) continue;
    if (ended[state] < static_cast<double>(controller_->count(state))) {
      wrong(fmt::format("jobs ended as {} without being counted", control::name_of(state)));
    }
  }
}

// What one request for several jobs says is stopped is, and what it refuses had ended before or is
// somebody else's, and only then.
void World::check_cancelled(const control::Reply& reply) {
  if (reply.kind != control::Reply::Kind::kSomeCancelled) return;
  const std::uint32_t caller = cancellers_.at(reply.ticket);
  for (const JobNumber id : reply.jobs) {
    const control::Job* job = controller_->find(id);
    if (job != nullptr && job->owner.uid != caller) {
      wrong(fmt::format("job {} was cancelled by another user", id));
    }
    const bool stopped = job == nullptr || job->state() == JobState::kCancelled ||
                         job->state() == JobState::kCancelling ||
                         requeued_.contains(id);  // perhaps in the same turn
    if (!stopped) wrong(fmt::format("job {} was said to be cancelled", id));
  }
  for (const control::Refusal& refusal : reply.refused) {
    const control::Job* job = controller_->find(refusal.job);
    const bool others = job != nullptr && job->owner.uid != caller;
    if (others != (refusal.kind == control::Refusal::Kind::kForbidden)) {
      wrong(fmt::format("job {} is refused for another reason", refusal.job));
    }
    const bool ended =
        job == nullptr || control::has_ended(job->state()) || requeued_.contains(refusal.job);
    if (!others && !ended) {
      wrong(fmt::format("job {} is not cancelled: {}", refusal.job, refusal.message));
    }
  }
}

// I11: a slice is kept for one job at most, and for one that waits or is being stopped.
void World::check_claims() {
  std::map<std::uint32_t, JobNumber> claimed;
  for (const auto& [id, job] : controller_->jobs()) {
    const auto slice = controller_->claim_of(id);
    if (!slice) continue;
    if (job.state() != JobState::kQueued && job.state() != JobState::kRestarting) {
      wrong(fmt::format("job {} has a claim and is {}", id, control::name_of(job.state())));
    }
    const auto [other, first] = claimed.emplace(slice->value, id);
    if (!first) wrong(fmt::format("jobs {} and {} claim one slice", other->second, id));
    const auto& place = controller_->fleet().cluster().slice(*slice);
    if (place.state == cluster::SliceState::kIdle) {
      wrong(fmt::format("the slice that job {} claims is not kept", id));
    }
  }
}

// I12: only a job that can save its work is preempted, and it is told to save it.
void World::check_preempted(const control::Turn& turn) {
  for (const store::EventRow& event : turn.batch.events) {
    if (event.kind != "preempted" && event.kind != "moved") continue;
    const control::Job* job = controller_->find(event.job);
    if (job == nullptr || job->spec.checkpoint.empty()) {
      wrong(fmt::format("job {} cannot be resumed and is {}", event.job, event.kind));
    }
    const bool saves = std::ranges::any_of(turn.effects, [&](const control::Effect& effect) {
      const auto* stop = std::get_if<control::Stop>(&effect);
      return stop != nullptr && stop->key.job == event.job && stop->checkpoint;
    });
    if (!saves)
      wrong(fmt::format("job {} is {} and need not save its work", event.job, event.kind));
  }
}

// I3: every layout is legal, no slice has two owners, and what is foreign is left alone.
void World::check_slices() {
  for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
    mig::Layout layout;
    for (const DeviceSlice& slice : slices_[gpu]) {
      if (!mig::fits(*model_, layout, slice.placement)) wrong("two slices overlap");
      if (wrong_) return;
      layout.add(slice.placement);
    }
  }
  for (const std::string& uuid : foreign_uuids_) {
    bool there = false;
    for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
      there = there || slice_at(GpuId{gpu}, uuid) != nullptr;
    }
    if (!there) wrong("the foreign slice " + uuid + " is gone");
  }
  std::map<std::string, launch::AttemptKey> owners;
  for (const auto& [key, process] : processes_) {
    if (!process.running) continue;
    const auto [owner, first] = owners.emplace(process.uuid, key);
    if (!first) {
      wrong(fmt::format("attempts {} and {} share a slice", launch::text_of(owner->second),
                        launch::text_of(key)));
    }
  }
}

// P2, I4: no attempt twice, no job in two places, no process that nobody knows.
void World::check_processes() {
  std::set<JobNumber> running;
  for (const auto& [key, process] : processes_) {
    if (process.starts > 1) wrong(fmt::format("attempt {} began twice", launch::text_of(key)));
    if (!process.running) continue;
    if (!running.insert(key.job).second) wrong(fmt::format("job {} runs twice", key.job));
    const control::Job* job = controller_->find(key.job);
    const bool to_stop = job != nullptr && (job->state() == JobState::kCancelling ||
                                            job->state() == JobState::kRestarting);
    if (to_stop && !process.stop) {
      wrong(
          fmt::format("job {} is {} and nobody stops it", key.job, control::name_of(job->state())));
    }
    if (job == nullptr || !control::holds_slice(job->state()) ||
        job->progress.attempt != key.number) {
      wrong(fmt::format("attempt {} runs and its job is {}", launch::text_of(key),
                        job == nullptr ? "unknown" : control::name_of(job->state())));
    }
  }
}

// I5: what the store would give back is what is known.
void World::check_store() {
  const auto contents = store_.load();
  if (contents->jobs.size() != controller_->jobs().size()) return wrong("the store lacks jobs");
  for (const store::JobRow& row : contents->jobs) {
    const control::Job* job = controller_->find(row.progress.id);
    if (job == nullptr) return wrong("the store has a job nobody knows");
    if (job->progress != row.progress) {
      wrong(fmt::format("job {} is {} and in the store {}", job->id, control::name_of(job->state()),
                        control::name_of(static_cast<JobState>(row.progress.state))));
    }
  }
  for (const store::AttemptRow& row : contents->attempts) {
    const control::Job* job = controller_->find(row.job);
    const bool same = job != nullptr && row.number >= 1 &&
                      static_cast<std::size_t>(row.number) <= job->attempts.size() &&
                      job->attempts[static_cast<std::size_t>(row.number - 1)].state == row.state;
    if (!same) wrong(fmt::format("attempt {}.{} differs in the store", row.job, row.number));
  }
}

// I13: before version 4 a store had words only, and they say the same. Digests hold the words, so
// they stay.
void World::check_older_store(const store::Contents& contents) {
  store::Contents older = contents;
  for (store::JobRow& row : older.jobs) row.progress.stop_cause = {};
  for (store::AttemptRow& row : older.attempts) row.outcome = {};
  control::JobTable today;
  control::JobTable then;
  if (!today.read(contents) || !then.read(older)) return;  // restore() says so
  for (const auto& [id, job] : today.all()) {
    const control::Job& other = then.at(id);
    if (job.progress != other.progress || job.attempts != other.attempts) {
      wrong(fmt::format("job {} ends or stops in another way in an older store", id));
    }
  }
}

// The position, for whoever looks for the mistake.
std::string World::description() const {
  std::string text = fmt::format("{}/{} on {}", scheduler_, repartition_, model_->key);
  for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
    const control::Fleet& fleet = controller_->fleet();
    const mig::Layout& layout = fleet.cluster().gpus[gpu].layout;
    text += fmt::format("; GPU {} {} {} step {}", gpu, mig::format_layout(*model_, layout),
                        fleet.why_unusable(GpuId{gpu}), fleet.in_step(GpuId{gpu}));
    for (const mig::Placement placement : layout.instances()) {
      const cluster::SliceId slice = cluster::slice_id(GpuId{gpu}, placement.start);
      text +=
          fmt::format(" [{} {} {}]", static_cast<int>(fleet.cluster().slice(slice).state),
                      static_cast<int>(fleet.holder(slice)), fleet.cluster().slice(slice).closing);
    }
    if (fleet.changing(GpuId{gpu})) {
      text += " to " + mig::format_layout(*model_, fleet.aim(GpuId{gpu}));
    }
  }
  return text;
}

// I6 and the end of I3: all jobs ended, nothing runs, and the slices are those of the store.
void World::check_end() {
  if (controller_->jobs_not_ended() > 0) {
    for (const auto& [id, job] : controller_->jobs()) {
      if (control::has_ended(job.state())) continue;
      return wrong(fmt::format("job {} is still {} ({}), needs {} GiB; {}", id,
                               control::name_of(job.state()), job.progress.reason,
                               job.progress.need_gib, description()));
    }
  }
  for (const auto& [key, process] : processes_) {
    if (process.running) wrong(fmt::format("attempt {} is left", launch::text_of(key)));
  }
  const auto contents = store_.load();
  std::set<std::string> in_store;
  for (const store::InstanceRow& row : contents->instances) {
    in_store.insert(fmt::format("{}:{} {}", row.gpu, row.start, row.uuid));
  }
  std::set<std::string> on_gpus;
  for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
    for (const DeviceSlice& slice : slices_[gpu]) {
      if (slice.foreign) continue;
      on_gpus.insert(fmt::format("GPU-{}:{} {}", gpu, slice.placement.start, slice.key.uuid));
    }
  }
  if (in_store != on_gpus) {
    wrong(fmt::format("slices in the store [{}] and on the GPUs [{}]", fmt::join(in_store, ", "),
                      fmt::join(on_gpus, ", ")));
  }
}

void World::tell_last_events() {
  constexpr std::size_t kEvents = 40;
  const auto events = store_.events(kNoJob, kEvents);
  for (const store::EventRow& event : *events) {
    *wrong_ += fmt::format("\n{:.3f} job {} {}: {}", Micros{event.at_us}.to_seconds(), event.job,
                           event.kind, event.text);
  }
}

}  // namespace partita::dst
