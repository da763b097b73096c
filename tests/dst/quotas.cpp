// Quotas of the simulated world: which a seed draws, and what must hold under them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dst/world.h"

namespace partita::dst {
namespace {

using control::QuotaHolder;

bool is_of(const control::QuotaLine& line, const launch::Owner& owner) {
  return line.id == (line.kind == QuotaHolder::kGroup ? owner.gid : owner.uid);
}

}  // namespace

// Every job can run under them, some time.
control::QuotaAmounts World::draw_amounts() {
  control::QuotaAmounts most;
  const auto one_in = [&](std::uint64_t n) { return quota_rng_.below(n) == 0; };
  const auto up_to = [&](std::uint64_t n) {
    return 1 + static_cast<std::int64_t>(quota_rng_.below(n));
  };
  if (one_in(4)) most.jobs = up_to(12);
  if (one_in(3)) most.running = up_to(4);
  if (one_in(2)) most.slices = model_->compute_slices - 1 + up_to(8);
  if (one_in(3)) {
    const mig::Profile& any = model_->profiles[quota_rng_.below(model_->profiles.size())];
    most.instances.push_back({any.compute_slices, up_to(2)});
  }
  if (one_in(4)) most.gpu_hours = quota_rng_.uniform(0.01, 0.2);
  if (one_in(4)) most.joules = quota_rng_.uniform(10, 100'000);
  return most;
}

// Others at every start: what was used follows from the attempts, whatever held then.
void World::draw_quotas(control::Options& options) {
  if (quota_rng_.below(3) == 0) return;
  options.quotas.period = static_cast<control::QuotaPeriod>(quota_rng_.below(2));
  const auto add = [&](QuotaHolder kind, std::uint32_t id) {
    if (quota_rng_.below(3) == 0) return;
    options.quotas.rules.push_back({kind, fmt::format("n{}", id), id, draw_amounts()});
  };
  add(QuotaHolder::kUser, 1000);
  add(QuotaHolder::kUser, 1002);
  add(QuotaHolder::kGroup, 1000);
  add(QuotaHolder::kDefault, 0);
}

void World::leap(bool faults) {
  const auto over = [](const auto& each) { return control::has_ended(each.second.state()); };
  if (std::ranges::all_of(controller_->jobs(), over)) return;
  if (!has_quotas() || quota_rng_.below(faults ? 100 : 200) != 0) return;
  now_ += Micros::seconds(static_cast<std::int64_t>(quota_rng_.below(faults ? 90'000 : 1'400'000)));
}

bool World::refused_by_quota(const control::Reply& reply, const launch::Owner& owner,
                             std::size_t count) const {
  for (const control::QuotaLine& line : controller_->quotas().lines_of(owner)) {
    for (const control::QuotaUse& use : line.uses) {
      if (use.amount != "jobs") continue;
      std::size_t jobs = count;  // of the table as it is after the turn, which may have more
      for (const auto& [id, job] : controller_->jobs()) jobs += is_of(line, job.owner) ? 1 : 0;
      if (static_cast<double>(jobs) > use.most && reply.message.starts_with("quota: ")) return true;
    }
  }
  return false;
}

// I18: whoever had jobs taken has no more than they may.
void World::check_jobs_quota(const control::Reply& reply) {
  const control::Job* taken = controller_->find(reply.jobs.front());
  if (taken == nullptr || taken->submitted != controller_->now()) return;  // long ago, perhaps
  for (const control::QuotaLine& line : controller_->quotas().lines_of(taken->owner)) {
    const auto limit = std::ranges::find(line.uses, "jobs", &control::QuotaUse::amount);
    if (limit == line.uses.end()) continue;
    const auto jobs = std::ranges::count_if(controller_->jobs(), [&](const auto& each) {
      return is_of(line, each.second.owner) && !control::has_ended(each.second.state());
    });
    if (static_cast<double>(jobs) <= limit->most) continue;
    wrong(fmt::format("{} {} has {} jobs of {}", control::name_of(line.kind), line.id, jobs,
                      limit->most));
  }
}

// I18: when a job starts, neither its user nor its group holds more than they may, of slices of its
// size and in all, and what they may use in a period is not used up. They may have held more of
// other sizes, or had more jobs, before the rules changed.
void World::check_quotas(const control::Job& started) {
  const auto own = mig::parse_profile(*model_, started.attempt().profile);
  const std::string own_size = fmt::format("{}g", model_->profiles[*own].compute_slices);
  for (const control::QuotaLine& line : controller_->quotas().lines_of(started.owner)) {
    std::map<std::string, double> held;
    for (const auto& [id, job] : controller_->jobs()) {
      if (!is_of(line, job.owner) || control::has_ended(job.state())) continue;
      if (!control::holds_slice(job.state())) continue;
      const auto profile = mig::parse_profile(*model_, job.attempt().profile);
      const int size = model_->profiles[*profile].compute_slices;
      ++held["running"];
      ++held[fmt::format("{}g", size)];
      held["slices"] += size;
    }
    for (const control::QuotaUse& use : line.uses) {
      const bool of_period = use.amount == "gpu-hours" || use.amount == "joules";
      const bool other_size = use.amount.size() == 2 && use.amount != own_size;
      if (use.amount == "jobs" || other_size) continue;
      if (of_period ? use.used >= use.most : held[use.amount] > use.most) {
        wrong(fmt::format("job {} starts, and {} {} has {} of {} {}", started.id,
                          control::name_of(line.kind), line.id,
                          of_period ? use.used : held[use.amount], use.most, use.amount));
      }
    }
    check_gpu_hours(line);
  }
}

// What was used follows from the attempts, through crashes and new rules.
void World::check_gpu_hours(const control::QuotaLine& line) {
  const auto use = std::ranges::find(line.uses, "gpu-hours", &control::QuotaUse::amount);
  if (use == line.uses.end()) return;
  const Micros start = controller_->quotas().clock().start;
  double hours = 0;
  for (const auto& [id, job] : controller_->jobs()) {
    if (!is_of(line, job.owner)) continue;
    for (const store::AttemptRow& attempt : job.attempts) {
      const Micros from = std::max(start, Micros{attempt.started_us});
      const Micros until = attempt.ended_us > 0 ? Micros{attempt.ended_us} : controller_->now();
      const auto profile = mig::parse_profile(*model_, attempt.profile);
      const double part =
          static_cast<double>(model_->profiles[*profile].compute_slices) / model_->compute_slices;
      hours += part * std::max(0.0, (until - from).to_seconds()) / 3600;
    }
  }
  if (std::abs(hours - use->used) > 1e-6) {
    wrong(fmt::format("{} {} used {} GPU-hours and is said to have used {}",
                      control::name_of(line.kind), line.id, hours, use->used));
  }
}

}  // namespace partita::dst
