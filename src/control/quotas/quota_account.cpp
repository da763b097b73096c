#include "control/quotas/quota_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace partita::control {
namespace {

constexpr double kSecondsPerHour = 3600;

// "2026-11-23 00:00Z".
std::string shown_minute(Micros at) {
  const std::chrono::sys_time<std::chrono::microseconds> instant{
      std::chrono::microseconds{at.count}};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(instant - day).count();
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     minutes / 60, minutes % 60);
}

std::optional<std::int64_t> most_of_size(const QuotaAmounts& most, int size) {
  const auto found = std::ranges::find(most.instances, size, &QuotaAmounts::OfSize::size);
  if (found == most.instances.end()) return {};
  return found->most;
}

}  // namespace

QuotaAccount::QuotaAccount(const mig::GpuModel& model, QuotaHolder kind, std::uint32_t id,
                           std::string name, QuotaAmounts most)
    : model_(&model), kind_(kind), id_(id), name_(std::move(name)), most_(std::move(most)) {}

std::string QuotaAccount::title() const {
  return fmt::format("{} {}", name_of(kind_), name_.empty() ? std::to_string(id_) : name_);
}

// ---- what happens

void QuotaAccount::add_jobs(std::int64_t by) {
  jobs_ += by;
  CHECK(jobs_ >= 0);
}

void QuotaAccount::begin(int size, Micros into) {
  CHECK(into >= Micros{});
  ++running_;
  slices_ += size;
  ++instances_[static_cast<std::size_t>(size)];
  late_starts_ += size * into.count;
}

void QuotaAccount::end(int size, Micros into, Micros lasted) {
  --running_;
  slices_ -= size;
  --instances_[static_cast<std::size_t>(size)];
  late_starts_ -= size * into.count;
  slice_seconds_ += size * lasted.to_seconds();
  CHECK(running_ >= 0);
}

// Those under way were there when it began.
void QuotaAccount::begin_period() {
  slice_seconds_ = joules_ = 0;
  late_starts_ = 0;
}

void QuotaAccount::set_used(double slice_seconds, double joules) {
  slice_seconds_ = slice_seconds;
  joules_ = joules;
}

// ---- what was used

double QuotaAccount::slice_seconds_used(const QuotaClock& clock) const {
  const std::int64_t under_way = slices_ * (clock.now - clock.start).count - late_starts_;
  return slice_seconds_ + Micros{under_way}.to_seconds();
}

double QuotaAccount::slice_seconds_most() const {
  return *most_.gpu_hours * model_->compute_slices * kSecondsPerHour;
}

double QuotaAccount::gpu_hours_used(const QuotaClock& clock) const {
  return slice_seconds_used(clock) / model_->compute_slices / kSecondsPerHour;
}

bool QuotaAccount::spent(const QuotaClock& clock) const {
  if (most_.gpu_hours && slice_seconds_used(clock) >= slice_seconds_most()) return true;
  return most_.joules && joules_ >= *most_.joules;
}

Micros QuotaAccount::spent_at(const QuotaClock& clock) const {
  if (!most_.gpu_hours || slices_ == 0 || spent(clock)) return Micros::max();
  const double left = slice_seconds_most() - slice_seconds_used(clock);
  const double micros = std::ceil(left / static_cast<double>(slices_) * 1e6);
  const auto longest = static_cast<double>(length_of(clock.period).count);
  return clock.now + Micros{static_cast<std::int64_t>(std::clamp(micros, 1.0, longest))};
}

// ---- what may be

bool QuotaAccount::has_room(int size) const {
  if (most_.slices && slices_ + size > *most_.slices) return false;
  const auto of_size = most_of_size(most_, size);
  return !of_size || instances_[static_cast<std::size_t>(size)] < *of_size;
}

bool QuotaAccount::ever_has_room(int size) const {
  if (most_.slices && size > *most_.slices) return false;
  return most_of_size(most_, size).value_or(1) > 0;
}

std::uint16_t QuotaAccount::startable(const QuotaClock& clock) const {
  if (most_.running && running_ >= *most_.running) return 0;
  if (most_.of_period() && spent(clock)) return 0;
  unsigned profiles = 0;
  for (std::size_t i = 0; i < model_->profiles.size(); ++i) {
    profiles |= static_cast<unsigned>(has_room(model_->profiles[i].compute_slices)) << i;
  }
  return static_cast<std::uint16_t>(profiles);
}

const mig::Profile& QuotaAccount::smallest(std::uint16_t fits) const {
  const mig::Profile* best = nullptr;
  for (std::size_t i = 0; i < model_->profiles.size(); ++i) {
    const mig::Profile& each = model_->profiles[i];
    if ((fits >> i & 1U) == 0) continue;
    if (best == nullptr || each.compute_slices < best->compute_slices) best = &each;
  }
  CHECK(best != nullptr);
  return *best;
}

std::string QuotaAccount::why_not(std::uint16_t fits, const QuotaClock& clock) const {
  if (std::string never = why_never(fits); !never.empty()) return never;
  const std::string who = "quota: " + title();
  const std::string until = " until " + shown_minute(clock.end());
  if (most_.gpu_hours && slice_seconds_used(clock) >= slice_seconds_most()) {
    return fmt::format("{} used {:.6g} of {:.6g} GPU-hours{}", who, gpu_hours_used(clock),
                       *most_.gpu_hours, until);
  }
  if (most_.joules && joules_ >= *most_.joules) {
    return fmt::format("{} used {:.6g} of {:.6g} J{}", who, joules_, *most_.joules, until);
  }
  if (most_.running && running_ >= *most_.running) {
    return fmt::format("{} has {} of {} running jobs", who, running_, *most_.running);
  }
  const int size = smallest(fits).compute_slices;
  if (most_.slices && slices_ + size > *most_.slices) {
    const bool full = slices_ >= *most_.slices;
    return fmt::format("{} holds {} of {} slices{}", who, slices_, *most_.slices,
                       full ? "" : fmt::format(", and this needs {}", size));
  }
  return fmt::format("{} holds {} of {} instances of {}g", who,
                     instances_[static_cast<std::size_t>(size)],
                     most_of_size(most_, size).value_or(0), size);
}

std::string QuotaAccount::why_never(std::uint16_t fits) const {
  const std::string who = "quota: " + title();
  if (most_.running && *most_.running == 0) return who + " may run no jobs: running=0";
  if (most_.gpu_hours && *most_.gpu_hours <= 0) return who + " may use no GPU: gpu-hours=0";
  if (most_.joules && *most_.joules <= 0) return who + " may use no energy: joules=0";
  for (std::size_t i = 0; i < model_->profiles.size(); ++i) {
    if ((fits >> i & 1U) == 0) continue;
    if (ever_has_room(model_->profiles[i].compute_slices)) return {};
  }
  const mig::Profile& profile = smallest(fits);
  if (most_.slices && profile.compute_slices > *most_.slices) {
    return fmt::format("{} may hold {} slice{}, and the smallest that fits, {}, has {}", who,
                       *most_.slices, *most_.slices == 1 ? "" : "s", profile.name,
                       profile.compute_slices);
  }
  return fmt::format("{} may hold no slice that fits, and the smallest is {}: {}g=0", who,
                     profile.name, profile.compute_slices);
}

// ---- what is shown

QuotaLine QuotaAccount::line(const QuotaClock& clock) const {
  QuotaLine line{kind_, name_, id_, {}};
  const auto add = [&](std::string amount, double used, double most) {
    line.uses.push_back({std::move(amount), used, most});
  };
  const auto count = [](std::int64_t number) { return static_cast<double>(number); };
  if (most_.jobs) add("jobs", count(jobs_), count(*most_.jobs));
  if (most_.running) add("running", count(running_), count(*most_.running));
  if (most_.slices) add("slices", count(slices_), count(*most_.slices));
  for (const QuotaAmounts::OfSize& each : most_.instances) {
    add(fmt::format("{}g", each.size), count(instances_[static_cast<std::size_t>(each.size)]),
        count(each.most));
  }
  if (most_.gpu_hours) add("gpu-hours", gpu_hours_used(clock), *most_.gpu_hours);
  if (most_.joules) add("joules", joules_, *most_.joules);
  return line;
}

}  // namespace partita::control
