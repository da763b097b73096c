#include "control/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::JobHandle;
using cluster::SliceId;

// A history of the same name is trusted this much beyond its peak.
constexpr double kHistoryMargin = 1.1;
// Less than this of missing memory does not matter: figures are rounded.
constexpr double kMemoryGuardGib = 1e-6;

// In the shadow nothing runs that could be moved.
decide::Preemption preemption_of(const Options& options) {
  using Mode = decide::Preemption::Mode;
  CHECK(options.preemption.mode == Mode::kNone || options.preemption.mode == Mode::kPays);
  return options.shadow ? decide::Preemption{Mode::kNone, {}} : options.preemption;
}

}  // namespace

Controller::Controller(Options options, const mig::GpuModel& model, std::vector<GpuFact> gpus,
                       std::unique_ptr<decide::Scheduler> scheduler,
                       std::unique_ptr<decide::Repartitioner> repartitioner,
                       std::unique_ptr<decide::PositionForecaster> forecaster)
    : options_(std::move(options)),
      fleet_(model, std::move(gpus), active_),
      scheduler_(std::move(scheduler)),
      repartitioner_(std::move(repartitioner)),
      forecaster_(std::move(forecaster)),
      view_{.now = Micros{},
            .cluster = fleet_.cluster(),
            .jobs = active_,
            .preemption = preemption_of(options_),
            .power = model.power_curves.front(),
            .et_a = options_.et_a,
            .forecaster = forecaster_.get()},
      readings_(fleet_.gpus().size()),
      meters_(fleet_.gpus().size()) {
  CHECK(!fleet_.gpus().empty());
  CHECK(forecaster_ || !repartitioner_->needs_forecasts());
  offered_ = static_cast<std::uint16_t>((1U << model.profiles.size()) - 1);
}

const Job* Controller::find(std::int64_t id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const Job* Controller::job_on(SliceId slice) const {
  const cluster::Slice& state = fleet_.cluster().slice(slice);
  if (state.state != cluster::SliceState::kBusy) return nullptr;
  if (fleet_.holder(slice) != Fleet::Holder::kNobody) return nullptr;
  return find(job_of_handle_[state.job.value]);
}

// ---- the books of one turn

void Controller::begin_turn(Micros now) {
  now_ = view_.now = std::max(now_, now);  // the wall clock may be set back; ours never is
  turn_ = Turn{};
  new_jobs_.clear();
  touched_.clear();
  touched_attempts_.clear();
}

Turn Controller::finish_turn() {
  for (const std::int64_t id : touched_) {
    const Job& job = jobs_.at(id);
    if (!new_jobs_.contains(id)) {
      if (PLANTED(skip_progress_row) && job.state() == JobState::kRunning) continue;
      turn_.batch.progress.push_back(job.progress);
      continue;
    }
    store::JobRow row;
    row.progress = job.progress;
    row.submitted_us = job.submitted.count;
    row.uid = job.owner.uid;
    row.gid = job.owner.gid;
    row.name = job.spec.name;
    row.key = job.key;
    row.spec = encode_spec(job.spec);
    turn_.batch.new_jobs.push_back(std::move(row));
  }
  for (const auto& [id, index] : touched_attempts_) {
    turn_.batch.attempts.push_back(jobs_.at(id).attempts[index]);
  }
  forget_oldest();
  return std::move(turn_);
}

void Controller::event(std::int64_t job, std::string kind, std::string text) {
  turn_.batch.events.push_back({next_event_++, now_.count, job, std::move(kind), std::move(text)});
}

void Controller::intend(std::string kind, std::string subject) {
  if (PLANTED(launch_without_intent) && kind == "launch") return;
  turn_.batch.intents.push_back({std::move(kind), std::move(subject), now_.count});
}

void Controller::met(std::string kind, std::string subject) {
  turn_.batch.met_intents.push_back({std::move(kind), std::move(subject), now_.count});
}

void Controller::reply(Ticket ticket, Reply::Kind kind, std::vector<std::int64_t> jobs,
                       std::string message) {
  turn_.replies.push_back({ticket, kind, std::move(jobs), std::move(message)});
}

// ---- submissions

std::optional<std::string> Controller::no_room_for(const Submit& submit) const {
  const Limits& limits = options_.limits;
  if (jobs_not_ended() + submit.count > limits.queue_jobs_max) {
    return fmt::format("the queue holds at most {} jobs", limits.queue_jobs_max);
  }
  const auto own = jobs_of_user_.find(submit.owner.uid);
  const std::size_t theirs = own == jobs_of_user_.end() ? 0 : own->second;
  if (theirs + submit.count > limits.queue_jobs_per_user_max) {
    return fmt::format("one user may have at most {} jobs in the queue",
                       limits.queue_jobs_per_user_max);
  }
  return {};
}

double Controller::first_need(const JobSpec& spec, const launch::Owner& owner) const {
  if (spec.memory_gib) return *spec.memory_gib;
  const auto known = peaks_.find({owner.uid, spec.name});
  if (known == peaks_.end()) return 0;
  return std::min(known->second * kHistoryMargin, largest_gib());
}

std::uint16_t Controller::fitting_profiles(double need_gib) const {
  unsigned mask = 0;
  const auto& profiles = fleet_.model().profiles;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (offered(i) && profiles[i].memory_gib + kMemoryGuardGib >= need_gib) mask |= 1U << i;
  }
  return static_cast<std::uint16_t>(mask);
}

void Controller::take(const Submit& submit) {
  const std::pair<std::uint32_t, std::string> key{submit.owner.uid, submit.key};
  const auto known = submit.key.empty() ? keys_.end() : keys_.find(key);
  if (known != keys_.end() && !PLANTED(accept_key_twice)) {
    return reply(submit.ticket, Reply::Kind::kAccepted, known->second);
  }
  const Status good = check_spec(submit.spec, options_.limits);
  if (!good) return reply(submit.ticket, Reply::Kind::kRefused, {}, good.error().message);
  if (submit.count < 1 || submit.count > options_.limits.array_jobs_max) {
    return reply(submit.ticket, Reply::Kind::kRefused, {},
                 fmt::format("an array has 1 to {} jobs", options_.limits.array_jobs_max));
  }
  if (submit.key.size() > options_.limits.key_bytes_max) {
    return reply(submit.ticket, Reply::Kind::kRefused, {}, "the key of the submission is too long");
  }
  if (fitting_profiles(submit.spec.memory_gib.value_or(0)) == 0) {
    return reply(submit.ticket, Reply::Kind::kRefused, {},
                 fmt::format("no slice of {} has {:g} GiB; the largest has {:g}",
                             fleet_.model().title, *submit.spec.memory_gib, largest_gib()));
  }
  if (const auto full = no_room_for(submit)) {
    return reply(submit.ticket, Reply::Kind::kFull, {}, *full);
  }
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < submit.count; ++i) ids.push_back(add_job(submit).id);
  if (!submit.key.empty()) keys_[key] = ids;
  reply(submit.ticket, Reply::Kind::kAccepted, std::move(ids));
}

Job& Controller::add_job(const Submit& submit) {
  const std::int64_t id = next_job_++;
  Job& job = jobs_[id];
  job.id = id;
  job.submitted = now_;
  job.owner = submit.owner;
  job.key = submit.key;
  job.spec = submit.spec;
  const double need = first_need(submit.spec, submit.owner);
  job.progress = {.id = id,
                  .state = static_cast<std::int64_t>(JobState::kQueued),
                  .attempt = 0,
                  .need_gib = need,
                  .changed_us = now_.count,
                  .reason = "submitted"};
  ++counts_[static_cast<std::size_t>(JobState::kQueued)];
  ++jobs_of_user_[submit.owner.uid];
  new_jobs_.insert(id);
  touch(job);
  const bool from_history = !submit.spec.memory_gib && need > 0;
  event(id, "submitted",
        submit.spec.memory_gib ? fmt::format("needs {:g} GiB as given", need)
        : from_history
            ? fmt::format("needs {:.2f} GiB as earlier jobs named {}", need, submit.spec.name)
            : "its memory is unknown: begins on the smallest slice");
  enter_policies(job);
  return job;
}

void Controller::enter_policies(Job& job) {
  const workload::Job seen = as_policy_job(job.spec, job.submitted, job.progress.need_gib);
  job.handle = active_.add(seen, JobId{static_cast<std::uint32_t>(job.id)},
                           fitting_profiles(job.progress.need_gib));
  if (job_of_handle_.size() <= job.handle.value) job_of_handle_.resize(job.handle.value + 1);
  job_of_handle_[job.handle.value] = job.id;
  scheduler_->job_arrived(view_, job.handle);
  if (repartitioner_->watches_arrivals()) repartitioner_->job_arrived(view_, job.handle);
  ++events_;
  pass_due_ = true;
}

// ---- changes of state

void Controller::move_to(Job& job, JobState state, std::string reason) {
  CHECK(may_move(job.state(), state));
  --counts_[static_cast<std::size_t>(job.state())];
  ++counts_[static_cast<std::size_t>(state)];
  job.progress.state = static_cast<std::int64_t>(state);
  job.progress.changed_us = now_.count;
  job.progress.reason = std::move(reason);
  active_[job.handle].resumable = may_be_moved(job);
  touch(job);
}

// REQUIRES: it holds no slice any more.
void Controller::end(Job& job, JobState state, std::string reason) {
  CHECK(has_ended(state));
  forget_claim(job.id);
  event(job.id, std::string(name_of(state)), reason);
  move_to(job, state, std::move(reason));
  active_.remove(job.handle);
  job.handle = {};
  ended_.push_back(job.id);
  --jobs_of_user_[job.owner.uid];
  ++events_;
  pass_due_ = true;
}

void Controller::tell_returned(const Job& job) {
  scheduler_->job_returned(view_, job.handle);
  if (repartitioner_->watches_arrivals()) repartitioner_->job_returned(view_, job.handle);
}

// REQUIRES: it holds no slice any more and policies do not count on it, unless it has a claim.
void Controller::requeue(Job& job, std::string reason) {
  decide::ActiveJob& active = active_[job.handle];
  active.fits = fitting_profiles(std::min(job.progress.need_gib, largest_gib()));
  active.memory_gib = static_cast<float>(job.progress.need_gib);
  active.work = std::exchange(job.work_left, 1);
  active.forget_on_time();
  CHECK(active.fits != 0);
  move_to(job, JobState::kQueued, reason);
  if (!claims_.contains(job.id)) tell_returned(job);
  fleet_.note_change();
  ++events_;
  pass_due_ = true;
}

void Controller::take(const Cancel& cancel) {
  const auto found = jobs_.find(cancel.job);
  if (found == jobs_.end()) {
    return reply(cancel.ticket, Reply::Kind::kNotFound, {},
                 fmt::format("there is no job {}", cancel.job));
  }
  Job& job = found->second;
  if (has_ended(job.state()) && job.state() != JobState::kCancelled) {
    return reply(cancel.ticket, Reply::Kind::kConflict, {},
                 fmt::format("job {} has ended: {}", job.id, name_of(job.state())));
  }
  reply(cancel.ticket, Reply::Kind::kCancelled, {job.id});
  if (job.state() == JobState::kCancelled || job.state() == JobState::kCancelling) return;
  if (job.state() == JobState::kQueued) {
    if (!claims_.contains(job.id)) scheduler_->job_withdrawn(view_, job.handle);
    return end(job, JobState::kCancelled, "by its owner, while it waited");
  }
  forget_claim(job.id);
  event(job.id, "cancelling", "its owner asked for it");
  move_to(job, JobState::kCancelling, "by its owner");
  if (!PLANTED(lose_cancel)) stop(job, false);
  if (PLANTED(reuse_slice_too_early)) leave_slice(job);
}

void Controller::forget_oldest() {
  while (ended_.size() > options_.limits.finished_jobs_kept_max) {
    const std::int64_t id = ended_.front();
    ended_.pop_front();
    if (new_jobs_.contains(id)) {  // its row is in this very batch
      ended_.push_back(id);
      return;
    }
    const Job& job = jobs_.at(id);
    if (!job.key.empty()) keys_.erase({job.owner.uid, job.key});
    --counts_[static_cast<std::size_t>(job.state())];
    turn_.batch.forgotten_jobs.push_back(id);
    jobs_.erase(id);
  }
}

// ---- decisions

Turn Controller::step(Micros now, std::span<const Input> inputs) {
  begin_turn(now);
  for (const Input& input : inputs) {
    std::visit([this](const auto& each) { take(each); }, input);
  }
  remove_vanished();
  serve_claims();
  const bool timer = now_ >= next_timer_;
  if (now_ >= next_look_) {
    next_look_ = Micros::max();
    pass_due_ = true;
  }
  const bool rested = now_ - last_pass_ >= options_.pass_interval;
  if (timer || (pass_due_ && rested)) pass();
  if (preempt_after()) preempt_for_layouts();
  begin_layout_steps();
  return finish_turn();
}

std::optional<Micros> Controller::next_wake() const {
  std::optional<Micros> next = fleet_.next_retry(now_);
  const auto sooner = [&](Micros time) { next = std::min(next.value_or(time), time); };
  if (next_timer_ != Micros::max()) sooner(next_timer_);
  if (next_look_ != Micros::max()) sooner(next_look_);
  if (pass_due_) sooner(last_pass_ + options_.pass_interval);
  return next;
}

void Controller::pass() {
  ++passes_;
  last_pass_ = now_;
  pass_due_ = false;
  const bool timer = now_ >= next_timer_;
  if (timer) next_timer_ = repartitioner_->next_time(now_).value_or(Micros::max());
  if (options_.shadow) {
    shadow_pass();
    return log_notes();
  }
  repartition(timer);
  fleet_.renew_requests();
  serve_claims();
  pass_due_ = false;  // whom it sent back is seen now
  if (preempts()) look_at_running();
  if (fleet_.take_changed()) scheduler_->layout_changed(view_);
  decision_.moves.clear();
  scheduler_->decide(view_, decision_);
  carry_out(decision_);
  log_notes();
}

// What policies did of their own accord: a guard that trips or is released.
void Controller::log_notes() {
  for (const std::string& note : {repartitioner_->take_note(), scheduler_->take_note()}) {
    if (!note.empty()) event(0, "guard", note);
  }
}

bool Controller::layouts_due() const {
  const std::uint64_t every = repartitioner_->every_events();
  return every > 0 && events_ - events_at_last_turn_ >= every;
}

void Controller::ask_for_layouts(bool turn) {
  requests_.clear();
  if (repartitioner_->watches_arrivals()) repartitioner_->relieve(view_, requests_);
  if (!options_.shadow) follow_requests();  // what follows is decided with it under way
  if (!turn) return;
  events_at_last_turn_ = events_;
  if (forecaster_) {
    fleet_.list_courses(courses_);
    forecaster_->take_position(view_, courses_, outlook());
  }
  repartitioner_->decide(view_, requests_);
}

void Controller::repartition(bool timer) {
  ask_for_layouts(timer || layouts_due());
  follow_requests();
}

void Controller::follow_requests() {
  for (const decide::LayoutRequest& request : requests_) {
    fleet_.request(request.gpu, request.layout);
  }
}

// What the policies would do, said once for each change of mind; the slices that would be made are
// not made, so most of what they say is about layouts.
void Controller::shadow_pass() {
  ask_for_layouts(!forecaster_ || layouts_due());  // forecasts are dear
  for (const decide::LayoutRequest& request : requests_) {
    const std::string layout = mig::format_layout(fleet_.model(), request.layout);
    std::string& said = shadowed_gpus_[request.gpu.value];
    const bool same = request.layout == fleet_.cluster().gpus[request.gpu.value].layout;
    if (same || said == layout) continue;
    said = layout;
    event(0, "shadow", fmt::format("would cut GPU {} to {}", request.gpu.value, layout));
  }
  if (fleet_.take_changed()) scheduler_->layout_changed(view_);
  decision_.moves.clear();
  scheduler_->decide(view_, decision_);
  for (const decide::Move& move : decision_.moves) {
    const std::int64_t id = job_of_handle_[move.job.value];
    const std::string place = gpu_place(cluster::gpu_of(move.to), cluster::start_of(move.to));
    std::string& said = shadowed_[id];
    if (said != place) event(id, "shadow", fmt::format("would start on {}", place));
    said = place;
    scheduler_->job_returned(view_, move.job);
  }
  if (!decision_.moves.empty()) fleet_.note_change();
}

std::string Controller::place_name(GpuId gpu, mig::Placement placement) const {
  return fmt::format("GPU {} {}", gpu.value, mig::format_placement(fleet_.model(), placement));
}

std::string Controller::place_name(SliceId slice) const {
  return place_name(cluster::gpu_of(slice),
                    {fleet_.cluster().slice(slice).profile, cluster::start_of(slice)});
}

std::string Controller::gpu_place(GpuId gpu, std::uint8_t start) const {
  return fmt::format("{}:{}", fleet_.gpus()[gpu.value].uuid, start);
}

}  // namespace partita::control
