#include "control/shared_queue.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/text.h"

namespace partita::control {
namespace {

// From `at` on a user holds so much more, or less.
struct RateChange {
  Micros at;
  std::uint32_t uid = 0;
  double by = 0;
};

double slices_of(const mig::GpuModel& model, const std::string& profile) {
  const auto found = std::ranges::find(model.profiles, profile, &mig::Profile::name);
  return found == model.profiles.end() ? 0 : found->compute_slices;
}

// What an attempt used a second. Joules are measured, so they are spread over all of it.
double rate_of(const store::AttemptRow& attempt, const mig::GpuModel& model, bool joules,
               Micros until) {
  if (!joules) return slices_of(model, attempt.profile);
  const double seconds = (until - Micros{attempt.started_us}).to_seconds();
  return seconds > 0 ? attempt.energy_j / seconds : 0;
}

}  // namespace

SharedQueue::SharedQueue(const decide::QueueRules& rules, const JobTable& jobs, const Fleet& fleet,
                         decide::Scheduler& scheduler, const decide::FairQueue::Make& make)
    : rules_(rules), jobs_(jobs), scheduler_(scheduler) {
  if (rules.fair()) {
    CHECK(make != nullptr);
    books_.emplace(rules, [this](cluster::JobHandle handle, const decide::ActiveJob&) {
      return owner_of(handle);
    });
    for (const auto& [uid, weight] : rules.weights) {
      if (const auto number = parse_int(uid)) {
        books_->ledger().set_weight(user_of(static_cast<std::uint32_t>(*number)), weight);
      }
    }
    fair_.emplace(make, *books_);
  }
  if (!rules.reserve_after) return;
  decide::FleetFacts facts{.aim = [&fleet](GpuId gpu) { return fleet.aim(gpu); },
                           .usable = [&fleet](GpuId gpu) { return fleet.usable(gpu); }};
  reservations_.emplace(*rules.reserve_after, std::move(facts), books());
}

decide::UserIndex SharedQueue::user_of(std::uint32_t uid) {
  // 0 is nobody in particular.
  const auto next = static_cast<decide::UserIndex>(users_.size() + 1);
  return users_.try_emplace(uid, next).first->second;
}

// Slices that nobody may use have handles too, which were others' before: they are nobody's.
std::optional<decide::Owner> SharedQueue::owner_of(cluster::JobHandle handle) {
  const Job* job = jobs_.of(handle);
  if (job == nullptr || job->handle != handle || has_ended(job->state())) return {};
  return decide::Owner{user_of(job->owner.uid),
                       static_cast<std::int32_t>(job->spec.priority.value_or(0))};
}

void SharedQueue::read_usage(const mig::GpuModel& model, Micros now) {
  if (!books_) return;
  const bool joules = rules_.fair_share == decide::FairOrder::kJoules;
  std::vector<RateChange> changes;
  for (const auto& [id, job] : jobs_.all()) {
    for (const store::AttemptRow& attempt : job.attempts) {
      if (attempt.started_us <= 0 || attempt.started_us >= now.count) continue;
      const Micros until{attempt.ended_us > 0 ? std::min(attempt.ended_us, now.count) : now.count};
      const double rate = rate_of(attempt, model, joules, until);
      if (rate <= 0 || until <= Micros{attempt.started_us}) continue;
      changes.push_back({Micros{attempt.started_us}, job.owner.uid, rate});
      changes.push_back({until, job.owner.uid, -rate});
    }
  }
  // One user after the other, so that rounding does not depend on who else was there.
  std::ranges::sort(changes, [](const RateChange& a, const RateChange& b) {
    return std::tie(a.uid, a.at, a.by) < std::tie(b.uid, b.at, b.by);
  });
  double rate = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool last = i + 1 == changes.size() || changes[i + 1].uid != changes[i].uid;
    rate = last ? 0 : std::max(0.0, rate + changes[i].by);
    books_->ledger().set_rate(user_of(changes[i].uid), rate, changes[i].at);
  }
}

std::vector<UserShare> SharedQueue::users(Micros now) const {
  std::vector<UserShare> shares;
  if (!books_) return shares;
  const decide::FairShare& ledger = books_->ledger();
  const double fair = books_->fair_level();
  for (const auto& [uid, user] : users_) {
    UserShare share{.uid = uid,
                    .weight = ledger.weight(user),
                    .usage = ledger.usage(user, now),
                    .total = ledger.total(user, now),
                    .rate = ledger.rate(user)};
    if (fair > 0) share.level = books_->level(user, now) / fair;
    shares.push_back(share);
  }
  return shares;
}

}  // namespace partita::control
