// What clients and operators do to a queue that is steered, and what must hold there.
#include <fmt/format.h>

#include <algorithm>

#include "dst/world.h"

namespace partita::dst {

using control::JobState;

void World::take_replies(const control::Turn& turn) {
  for (const control::Reply& reply : turn.replies) {
    check_cancelled(reply);
    note_drain(reply);
    for (auto each = unanswered_.begin(); each != unanswered_.end(); ++each) {
      if (each->second.ticket != reply.ticket) continue;
      if (reply.kind == control::Reply::Kind::kNoSpace && !told_space_) {
        ++refused_;
        each->second.ticket = 0;  // comes again
        break;
      }
      if (reply.kind == control::Reply::Kind::kFull &&
          refused_by_quota(reply, owner_of(each->first), each->second.count)) {
        ++quota_refusals_;
        unanswered_.erase(each);
        break;
      }
      if (reply.kind != control::Reply::Kind::kAccepted) wrong("refused: " + reply.message);
      if (reply.jobs.size() != each->second.count) wrong("an answer names other jobs");
      check_jobs_quota(reply);
      answered_[each->first] = reply.jobs;
      acknowledged_.insert(reply.jobs.begin(), reply.jobs.end());
      unanswered_.erase(each);
      break;
    }
  }
}

void World::draw_wishes(control::JobSpec& spec) {
  for (std::uint64_t i = steer_rng_.below(3); i > 0 && !acknowledged_.empty(); --i) {
    const auto nth = static_cast<long>(steer_rng_.below(acknowledged_.size()));
    const JobNumber before = *std::next(acknowledged_.begin(), nth);
    spec.after.push_back(
        fmt::format("{}{}", before.value, steer_rng_.below(2) == 0 ? ":any" : ":ok"));
  }
  spec.hold = steer_rng_.below(8) == 0;
  spec.no_requeue = steer_rng_.below(4) == 0;
  spec.no_early_restart = steer_rng_.below(4) == 0;
  if (steer_rng_.below(2) == 0) {
    spec.array_limit = 1 + static_cast<std::int64_t>(steer_rng_.below(2));
  }
}

void World::steer(std::vector<control::Input>& inputs) {
  if (steer_rng_.below(60) == 0) {
    const GpuId gpu{static_cast<std::uint32_t>(steer_rng_.below(gpu_count_))};
    const bool drain = !operator_drained_.contains(gpu);
    if (drain) drains_asked_[next_ticket_] = gpu;
    operator_drained_.erase(gpu);  // until the answer nobody knows
    inputs.push_back(control::DrainGpu{next_ticket_++, gpu, drain, "a new fan"});
  }
  if (acknowledged_.empty()) return;
  const auto nth = static_cast<long>(steer_rng_.below(acknowledged_.size()));
  const JobNumber job = *std::next(acknowledged_.begin(), nth);
  const bool admin = steer_rng_.below(4) == 0;
  if (steer_rng_.below(15) == 0) {
    inputs.push_back(control::Hold{next_ticket_++, job, true, admin});
  } else if (steer_rng_.below(15) == 0) {
    inputs.push_back(control::Hold{next_ticket_++, job, false, admin});
  } else if (steer_rng_.below(20) == 0) {
    inputs.push_back(control::Requeue{next_ticket_++, job});
    requeued_.insert(job);
  }
}

// So that all jobs can end.
void World::let_go(std::vector<control::Input>& inputs) {
  for (std::uint32_t i = 0; i < gpu_count_; ++i) {
    if (!controller_->devices().drained(GpuId{i})) continue;
    operator_drained_.erase(GpuId{i});
    inputs.push_back(control::DrainGpu{next_ticket_++, GpuId{i}, false, ""});
  }
  for (const auto& [id, job] : controller_->jobs()) {
    if (job.progress.held == store::Held::kNo || control::has_ended(job.state())) continue;
    inputs.push_back(control::Hold{next_ticket_++, id, false, true});
  }
}

// I17: a GPU that was said to be drained is so until it was said to be resumed, and no job starts
// there.
void World::check_drains() {
  for (const GpuId each : operator_drained_) {
    if (!controller_->devices().drained(each))
      wrong(fmt::format("GPU {} is drained no more", each.value));
  }
}

void World::note_drain(const control::Reply& reply) {
  const auto asked = drains_asked_.find(reply.ticket);
  if (asked == drains_asked_.end()) return;
  operator_drained_.insert(asked->second);
  drains_asked_.erase(asked);
}

// I15: when a job starts, those it runs after have ended, and well where they had to, it is not
// held, and of its array no more run than may.
void World::check_start(JobNumber id) {
  const control::Job* job = controller_->find(id);
  if (job == nullptr) return;
  check_quotas(*job);
  if (job->progress.held != store::Held::kNo) wrong(fmt::format("job {} is held and starts", id));
  std::int64_t running = 0;
  for (const auto& [other_id, other] : controller_->jobs()) {
    const bool same = job->array_job != kNoJob && other.array_job == job->array_job;
    if (same && control::holds_slice(other.state())) ++running;
  }
  if (job->spec.array_limit && running > *job->spec.array_limit) {
    wrong(fmt::format("{} jobs of array {} run at once", running, job->array_job));
  }
  for (const std::string& text : job->spec.after) {
    const auto dependency = control::parse_dependency(text);
    const control::Job* before = controller_->find(dependency->job);
    if (before == nullptr) continue;
    const bool good =
        dependency->any ? control::has_ended(before->state()) : before->state() == JobState::kDone;
    if (good) continue;
    wrong(fmt::format("job {} starts after {}, which is {}", id, text,
                      control::name_of(before->state())));
  }
}

}  // namespace partita::dst
