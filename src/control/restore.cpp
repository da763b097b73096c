// The part of the controller that begins again: the store, the GPUs and the processes compared.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "control/controller.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;
using cluster::SliceState;

std::string missing_part(std::int64_t id) {
  return fmt::format("job {} of the store is incomplete", id);
}

const store::InstanceRow* row_at(const store::Contents& contents, const std::string& gpu,
                                 std::uint8_t start) {
  for (const store::InstanceRow& row : contents.instances) {
    if (row.gpu == gpu && row.start == start) return &row;
  }
  return nullptr;
}

}  // namespace

bool is_ours(const SetAside& known, const device::Instance& instance) {
  if (known.placement != instance.placement) return false;
  if (known.stage == SliceStage::kCreating || known.uuid == instance.key.uuid) return true;
  // The compute instance, and with it the UUID, is gone already or never was.
  const bool half = known.stage == SliceStage::kDestroying || known.stage == SliceStage::kDoubtful;
  return half && instance.orphan();
}

std::optional<SetAside> Controller::known_slice(const store::InstanceRow& row) const {
  const auto profile = mig::parse_profile(fleet_.model(), row.profile);
  if (!profile) return {};
  return SetAside{{*profile, static_cast<std::uint8_t>(row.start)},
                  row.uuid,
                  static_cast<SliceStage>(row.state)};
}

std::vector<launch::AttemptKey> unsettled_attempts(const store::Contents& contents) {
  std::vector<launch::AttemptKey> keys;
  for (const store::JobRow& row : contents.jobs) {
    if (row.progress.state < 0 || row.progress.state >= static_cast<std::int64_t>(kJobStates)) {
      continue;  // restore() says so
    }
    if (!holds_slice(static_cast<JobState>(row.progress.state))) continue;
    keys.push_back({row.progress.id, row.progress.attempt});
  }
  return keys;
}

Result<Turn> Controller::restore(Micros now, const store::Contents& contents,
                                 std::span<const Inventory> inventories,
                                 std::span<const launch::Report> attempts) {
  CHECK(jobs_.empty());
  begin_turn(now);
  next_event_ = contents.last_event + 1;
  const Status read = read_jobs(contents);
  if (!read) return read.error();
  for (const store::PeakRow& row : contents.peaks) {
    peaks_[{static_cast<std::uint32_t>(row.uid), row.name}] = row.peak_gib;
  }
  // What was intended is either there by now or will be decided anew.
  for (const store::IntentRow& row : contents.intents) met(row.kind, row.subject);
  for (const Inventory& inventory : inventories) reconcile(inventory, contents);
  set_unseen_aside(inventories, contents);
  for (const store::InstanceRow& row : contents.instances) {
    if (fleet_.gpu_of_uuid(row.gpu)) continue;
    event(0, "vanished", fmt::format("{} is no longer in this machine", row.gpu));
    turn_.batch.gone_instances.push_back({row.gpu, row.start});
  }
  const std::vector<mig::Layout> initial = repartitioner_->initial_layouts(view_);
  find_offered(initial);
  seat_jobs();
  scheduler_->begin(view_);
  for (auto& [id, job] : jobs_) {
    if (job.state() != JobState::kQueued) continue;
    scheduler_->job_arrived(view_, job.handle);
    if (repartitioner_->watches_arrivals()) repartitioner_->job_returned(view_, job.handle);
  }
  next_timer_ = repartitioner_->next_time(now_).value_or(Micros::max());
  for (std::uint32_t i = 0; i < initial.size() && !options_.shadow; ++i) {
    if (!initial[i].empty()) fleet_.request(GpuId{i}, initial[i]);
  }
  for (const launch::Report& report : attempts) take(report);
  settle_again();
  ++events_;
  pass_due_ = true;
  return finish_turn();
}

Status Controller::read_jobs(const store::Contents& contents) {
  for (const store::JobRow& row : contents.jobs) {
    Result<JobSpec> spec = decode_spec(row.spec);
    const bool known_state =
        row.progress.state >= 0 && row.progress.state < static_cast<std::int64_t>(kJobStates);
    if (!spec || !known_state) return Error{missing_part(row.progress.id)};
    Job& job = jobs_[row.progress.id];
    job.id = row.progress.id;
    job.submitted = Micros{row.submitted_us};
    job.owner = {static_cast<std::uint32_t>(row.uid), static_cast<std::uint32_t>(row.gid)};
    job.key = row.key;
    job.spec = *std::move(spec);
    job.progress = row.progress;
    ++counts_[static_cast<std::size_t>(job.state())];
    if (!job.key.empty()) keys_[{job.owner.uid, job.key}].push_back(job.id);
    next_job_ = std::max(next_job_, job.id + 1);
    if (!has_ended(job.state())) ++jobs_of_user_[job.owner.uid];
  }
  for (const store::AttemptRow& row : contents.attempts) {
    const auto job = jobs_.find(row.job);
    if (job == jobs_.end()) return Error{missing_part(row.job)};
    job->second.attempts.push_back(row);
  }
  std::vector<const Job*> over;
  for (auto& [id, job] : jobs_) {
    if (static_cast<std::int64_t>(job.attempts.size()) != job.progress.attempt) {
      return Error{missing_part(id)};
    }
    if (has_ended(job.state())) over.push_back(&job);
  }
  std::ranges::sort(over, {}, [](const Job* job) {
    return std::pair{job->progress.changed_us, job->id};
  });
  for (const Job* job : over) ended_.push_back(job->id);
  return {};
}

void Controller::reconcile(const Inventory& inventory, const store::Contents& contents) {
  const GpuId gpu = inventory.gpu;
  const std::string& uuid = fleet_.gpus()[gpu.value].uuid;
  for (const device::Instance& instance : inventory.instances) {
    const store::InstanceRow* row = row_at(contents, uuid, instance.placement.start);
    const std::string place = place_name(gpu, instance.placement);
    const auto known = row == nullptr ? std::nullopt : known_slice(*row);
    const bool ours = known && is_ours(*known, instance);
    if (!ours && !PLANTED(destroy_foreign)) {
      if (fleet_.add_foreign(gpu, instance.placement, instance.key)) {
        event(0, "foreign", place + " was not made by this daemon and is left alone");
      }
      continue;
    }
    if (!mig::fits(fleet_.model(), fleet_.cluster().gpus[gpu.value].layout, instance.placement)) {
      continue;
    }
    if (instance.orphan() && !fleet_.in_step(gpu)) {
      // Half made or half unmade when we went down: the rest goes.
      begin_own_destroy(gpu, instance);
      continue;
    }
    fleet_.add_own(gpu, instance.placement, instance.key);
    if (instance.orphan()) {  // the second of two: after the first
      fleet_.condemn_slice(cluster::slice_id(gpu, instance.placement.start));
      continue;
    }
    const bool settled =
        row != nullptr && row->state == static_cast<std::int64_t>(SliceStage::kPresent);
    if (!settled) write_instance(gpu, instance.placement, SliceStage::kPresent, instance.key.uuid);
  }
  for (const store::InstanceRow& row : contents.instances) {
    if (row.gpu != uuid) continue;
    const SliceId slice = cluster::slice_id(gpu, static_cast<std::uint8_t>(row.start));
    const bool there = fleet_.cluster().slice(slice).state != SliceState::kAbsent &&
                       fleet_.holder(slice) == Fleet::Holder::kNobody;
    if (there) continue;
    drop_instance(gpu, static_cast<std::uint8_t>(row.start));
    if (row.state == static_cast<std::int64_t>(SliceStage::kPresent)) {
      event(0, "vanished", fmt::format("GPU {} {}:{}", gpu.value, row.profile, row.start));
    }
  }
}

// Slices of GPUs that did not answer.
void Controller::set_unseen_aside(std::span<const Inventory> inventories,
                                  const store::Contents& contents) {
  for (const store::InstanceRow& row : contents.instances) {
    const auto gpu = fleet_.gpu_of_uuid(row.gpu);
    const auto known = known_slice(row);
    if (!gpu || !known) continue;
    const bool seen =
        std::ranges::any_of(inventories, [&](const Inventory& each) { return each.gpu == *gpu; });
    if (seen) continue;
    SetAside& aside = set_aside_[gpu->value].emplace_back(*known);
    // Long may pass until it answers, and others may make slices meanwhile.
    if (aside.stage == SliceStage::kCreating) aside.stage = SliceStage::kDoubtful;
  }
}

// Where layouts never change, a job that needs more than they have would wait for ever.
void Controller::find_offered(std::span<const mig::Layout> initial) {
  if (repartitioner_->every_events() > 0 || repartitioner_->next_time(now_)) return;
  unsigned mask = 0;
  for (const mig::Layout& layout : initial) {
    for (const mig::Placement placement : layout.instances()) mask |= 1U << placement.profile;
  }
  offered_ = static_cast<std::uint16_t>(mask);
}

// Gives a job the slice that its process was started on, where it is there and open.
void Controller::seat(Job& job) {
  const store::AttemptRow& attempt = job.attempts.back();
  const auto gpu = fleet_.gpu_of_uuid(attempt.gpu);
  if (!gpu) return;
  const SliceId slice = cluster::slice_id(*gpu, static_cast<std::uint8_t>(attempt.start));
  const cluster::Slice& place = fleet_.cluster().slice(slice);
  if (!place.open() || fleet_.instance(slice).uuid != attempt.instance) return;
  cluster::start_job(fleet_.cluster(), slice, job.handle);
  decide::ActiveJob& active = active_[job.handle];
  active.slice = slice;
  active.size_index = place.size_index;
  active.started = true;
  active.first_start = active.progress_from = Micros{attempt.started_us};
  active.finish =
      active.progress_from + Micros{static_cast<std::int64_t>(active.time[place.size_index])};
}

// A daemon that was started while a GPU did not answer knows of jobs whose processes are on it, but
// not of their slices. Those are nobody else's until the processes have ended.
void Controller::seat_stragglers() {
  for (auto& [id, job] : jobs_) {
    if (holds_slice(job.state()) && !active_[job.handle].slice.valid()) seat(job);
  }
}

// Every job that has not ended gets its handle; those with a process get their slice back.
void Controller::seat_jobs() {
  for (auto& [id, job] : jobs_) {
    if (has_ended(job.state())) continue;
    const workload::Job seen = as_policy_job(job.spec, job.submitted, job.progress.need_gib);
    // The store may be of a time when the policy offered more.
    const double need = std::min(job.progress.need_gib, largest_gib());
    job.handle = active_.add(seen, JobId{static_cast<std::uint32_t>(id)}, fitting_profiles(need));
    if (job_of_handle_.size() <= job.handle.value) job_of_handle_.resize(job.handle.value + 1);
    job_of_handle_[job.handle.value] = id;
    active_[job.handle].resumable = may_be_moved(job);
    if (job.state() != JobState::kQueued) seat(job);
  }
}

// What was under way for a job when we went down goes on.
void Controller::settle_again() {
  for (auto& [id, job] : jobs_) {
    if (!holds_slice(job.state())) continue;
    const bool seated = active_[job.handle].slice.valid();
    if (seated && job.state() == JobState::kRunning) {
      event(id, "adopted", fmt::format("attempt {} goes on", job.progress.attempt));
    }
    if (!seated && may_move(job.state(), JobState::kRestarting)) {
      event(id, "stopping", "its slice vanished");
      move_to(job, JobState::kRestarting, "its slice vanished");
    }
    const bool stopping =
        job.state() == JobState::kRestarting || job.state() == JobState::kCancelling;
    // It was to save its work first, and perhaps is about to.
    const bool saves = seated && job.state() == JobState::kRestarting &&
                       job.progress.reason.starts_with(kPreempted);
    if (stopping) stop(job, saves);
  }
}

}  // namespace partita::control
