#include "control/quotas/quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/check.h"

namespace partita::control {
namespace {

constexpr double kSecondsPerHour = 3600;

// "2026-11-23 00:00Z".
std::string shown_minute(Micros at) {
  using namespace std::chrono;
  const sys_time<microseconds> instant{microseconds{at.count}};
  const auto day = floor<days>(instant);
  const year_month_day date{day};
  const auto minutes = duration_cast<std::chrono::minutes>(instant - day).count();
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

Quotas::Quotas(QuotaRules rules, const mig::GpuModel& model, std::size_t gpus)
    : rules_(std::move(rules)),
      model_(model),
      fleet_slices_(static_cast<std::int64_t>(gpus) * model.compute_slices) {
  for (const QuotaRule& rule : rules_.rules) {
    if (rule.kind == QuotaHolder::kDefault) continue;
    open(rule.kind, rule.id, rule.name, rule.most);
  }
}

// ---- accounts

const QuotaRule* Quotas::default_rule() const {
  const auto found = std::ranges::find(rules_.rules, QuotaHolder::kDefault, &QuotaRule::kind);
  return found == rules_.rules.end() ? nullptr : &*found;
}

Quotas::Account& Quotas::open(QuotaHolder kind, std::uint32_t id, std::string name,
                              const QuotaAmounts& most) {
  auto& index = kind == QuotaHolder::kGroup ? groups_ : users_;
  index[id] = static_cast<Holder>(accounts_.size());
  Account& account = accounts_.emplace_back();
  account.kind = kind;
  account.id = id;
  account.name = std::move(name);
  account.most = most;
  read_rows(account);
  account.told = startable(static_cast<Holder>(accounts_.size() - 1));
  return account;
}

Quotas::Holders Quotas::enter(const launch::Owner& owner) {
  if (any() && !users_.contains(owner.uid)) {
    if (const QuotaRule* others = default_rule()) {
      open(QuotaHolder::kUser, owner.uid, "", others->most);
    }
  }
  return holders_of(owner);
}

Quotas::Holders Quotas::holders_of(const launch::Owner& owner) const {
  Holders holders;
  if (!any()) return holders;
  if (const auto user = users_.find(owner.uid); user != users_.end()) holders.add(user->second);
  if (const auto group = groups_.find(owner.gid); group != groups_.end()) {
    holders.add(group->second);
  }
  return holders;
}

// ---- what happens

void Quotas::set_time(Micros now) {
  now_ = now;
  if (!any()) return;
  const Micros start = start_of(rules_.period, now);
  if (start == start_) return;
  start_ = start;
  for (Account& account : accounts_) {
    account.unwritten = account.unwritten || account.slice_seconds > 0 || account.joules > 0;
    account.slice_seconds = account.joules = 0;
    account.late_starts = 0;  // those under way were there when it began
  }
}

void Quotas::add_job(const launch::Owner& owner) {
  for (const Holder holder : enter(owner)) ++accounts_[holder].jobs;
}

void Quotas::remove_job(const launch::Owner& owner) {
  for (const Holder holder : holders_of(owner)) {
    Account& account = accounts_[holder];
    --account.jobs;
    CHECK(account.jobs >= 0);
  }
}

std::optional<Quotas::Span> Quotas::span_of(const store::AttemptRow& attempt) const {
  const Result<mig::ProfileIndex> profile = mig::parse_profile(model_, attempt.profile);
  if (!profile) return {};
  return Span{model_.profiles[*profile].compute_slices,
              std::max(start_, Micros{attempt.started_us})};
}

void Quotas::begin(const launch::Owner& owner, const store::AttemptRow& attempt) {
  if (!any()) return;
  const auto span = span_of(attempt);
  if (!span) return;
  for (const Holder holder : enter(owner)) {
    Account& account = accounts_[holder];
    ++account.running;
    account.slices += span->slices;
    ++account.instances[static_cast<std::size_t>(span->slices)];
    account.late_starts += span->slices * (span->from - start_).count;
  }
}

void Quotas::end(const launch::Owner& owner, const store::AttemptRow& attempt) {
  if (!any()) return;
  const auto span = span_of(attempt);
  if (!span) return;
  const Micros lasted = std::max(Micros{}, Micros{attempt.ended_us} - span->from);
  for (const Holder holder : holders_of(owner)) {
    Account& account = accounts_[holder];
    --account.running;
    account.slices -= span->slices;
    --account.instances[static_cast<std::size_t>(span->slices)];
    account.late_starts -= span->slices * (span->from - start_).count;
    account.slice_seconds += static_cast<double>(span->slices) * lasted.to_seconds();
    account.unwritten = true;
    CHECK(account.running >= 0);
  }
}

void Quotas::add_joules(const launch::Owner& owner, double joules) {
  for (const Holder holder : holders_of(owner)) {
    accounts_[holder].joules += joules;
    accounts_[holder].joules_booked = true;
  }
}

// ---- what was used

double Quotas::slice_seconds_used(const Account& account) const {
  const std::int64_t under_way = account.slices * (now_ - start_).count - account.late_starts;
  return account.slice_seconds + Micros{under_way}.to_seconds();
}

double Quotas::gpu_hours_used(const Account& account) const {
  return slice_seconds_used(account) / model_.compute_slices / kSecondsPerHour;
}

double Quotas::slice_seconds_most(const Account& account) const {
  return *account.most.gpu_hours * model_.compute_slices * kSecondsPerHour;
}

bool Quotas::spent(const Account& account) const {
  const QuotaAmounts& most = account.most;
  if (most.gpu_hours && slice_seconds_used(account) >= slice_seconds_most(account)) return true;
  return most.joules && account.joules >= *most.joules;
}

// ---- what may be

bool Quotas::has_room(const Account& account, const mig::Profile& profile) const {
  const int size = profile.compute_slices;
  if (account.most.slices && account.slices + size > *account.most.slices) return false;
  const auto of_size = most_of_size(account.most, size);
  return !of_size || account.instances[static_cast<std::size_t>(size)] < *of_size;
}

bool Quotas::ever_fits(const QuotaAmounts& most, const mig::Profile& profile) const {
  if (most.slices && profile.compute_slices > *most.slices) return false;
  return most_of_size(most, profile.compute_slices).value_or(1) > 0;
}

std::uint16_t Quotas::startable(Holder holder) const {
  const Account& account = accounts_[holder];
  if (account.most.running && account.running >= *account.most.running) return 0;
  if (account.most.of_period() && spent(account)) return 0;
  unsigned profiles = 0;
  for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
    profiles |= static_cast<unsigned>(has_room(account, model_.profiles[i])) << i;
  }
  return static_cast<std::uint16_t>(profiles);
}

bool Quotas::may_start(const launch::Owner& owner, mig::ProfileIndex profile) const {
  return std::ranges::all_of(
      holders_of(owner), [&](Holder holder) { return (startable(holder) >> profile & 1U) != 0; });
}

std::size_t Quotas::admitted_max(Holder holder) const {
  const QuotaAmounts& most = accounts_[holder].most;
  const std::int64_t at_once = std::min(
      {most.running.value_or(fleet_slices_), most.slices.value_or(fleet_slices_), fleet_slices_});
  return static_cast<std::size_t>(at_once + kAhead);
}

const mig::Profile& Quotas::smallest(std::uint16_t fits) const {
  CHECK(fits != 0);
  std::size_t best = model_.profiles.size();
  for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
    if ((fits >> i & 1U) == 0) continue;
    const bool smaller = best == model_.profiles.size() ||
                         model_.profiles[i].compute_slices < model_.profiles[best].compute_slices;
    if (smaller) best = i;
  }
  return model_.profiles[best];
}

std::string Quotas::title(const Account& account) const {
  return fmt::format("{} {}", name_of(account.kind),
                     account.name.empty() ? std::to_string(account.id) : account.name);
}

std::string Quotas::title(Holder holder) const {
  return title(accounts_[holder]);
}

std::string Quotas::why_not(Holder holder, std::uint16_t fits) const {
  const Account& account = accounts_[holder];
  const QuotaAmounts& most = account.most;
  if (std::string never = why_never(account, fits); !never.empty()) return never;
  const std::string who = "quota: " + title(account);
  const std::string until = " until " + shown_minute(period_end());
  if (most.gpu_hours && slice_seconds_used(account) >= slice_seconds_most(account)) {
    return fmt::format("{} used {:.1f} of {:g} GPU-hours{}", who, gpu_hours_used(account),
                       *most.gpu_hours, until);
  }
  if (most.joules && account.joules >= *most.joules) {
    return fmt::format("{} used {:.4g} of {:g} J{}", who, account.joules, *most.joules, until);
  }
  if (most.running && account.running >= *most.running) {
    return fmt::format("{} has {} of {} running jobs", who, account.running, *most.running);
  }
  const mig::Profile& profile = smallest(fits);
  const int size = profile.compute_slices;
  if (most.slices && account.slices + size > *most.slices) {
    const bool full = account.slices >= *most.slices;
    return fmt::format("{} holds {} of {} slices{}", who, account.slices, *most.slices,
                       full ? "" : fmt::format(", and this needs {}", size));
  }
  return fmt::format("{} holds {} of {} instances of {}g", who,
                     account.instances[static_cast<std::size_t>(size)],
                     most_of_size(most, size).value_or(0), size);
}

// Empty: it may some day.
std::string Quotas::why_never(const Account& account, std::uint16_t fits) const {
  const QuotaAmounts& most = account.most;
  const std::string who = "quota: " + title(account);
  if (most.running && *most.running == 0) return who + " may run no jobs: running=0";
  if (most.gpu_hours && *most.gpu_hours <= 0) return who + " may use no GPU: gpu-hours=0";
  if (most.joules && *most.joules <= 0) return who + " may use no energy: joules=0";
  bool ever = false;
  for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
    ever = ever || ((fits >> i & 1U) != 0 && ever_fits(most, model_.profiles[i]));
  }
  if (ever) return {};
  const mig::Profile& profile = smallest(fits);
  if (most.slices && profile.compute_slices > *most.slices) {
    return fmt::format("{} may hold {} slices, and the smallest that fits, {}, has {}", who,
                       *most.slices, profile.name, profile.compute_slices);
  }
  return fmt::format("{} may hold no slice that fits, and the smallest is {}: {}g=0", who,
                     profile.name, profile.compute_slices);
}

std::optional<std::string> Quotas::no_room_for(const launch::Owner& owner, std::size_t count) {
  for (const Holder holder : enter(owner)) {
    const Account& account = accounts_[holder];
    if (!account.most.jobs) continue;
    if (account.jobs + static_cast<std::int64_t>(count) <= *account.most.jobs) continue;
    return fmt::format("quota: {} may have at most {} jobs in the queue and has {}", title(account),
                       *account.most.jobs, account.jobs);
  }
  return {};
}

std::optional<std::string> Quotas::never(const launch::Owner& owner, std::uint16_t fits) {
  for (const Holder holder : enter(owner)) {
    if (std::string why = why_never(accounts_[holder], fits); !why.empty()) return why;
  }
  return {};
}

std::vector<Quotas::Holder> Quotas::take_changed_holders() {
  std::vector<Holder> changed;
  for (Holder holder = 0; holder < accounts_.size(); ++holder) {
    if (accounts_[holder].jobs == 0) continue;  // nobody waits for it
    const std::uint16_t now = startable(holder);
    if (std::exchange(accounts_[holder].told, now) != now) changed.push_back(holder);
  }
  return changed;
}

// Who has no jobs need not be looked at.
Micros Quotas::next_time() const {
  Micros next = Micros::max();
  for (const Account& account : accounts_) {
    if (account.jobs == 0 || !account.most.of_period()) continue;
    next = std::min(next, period_end());
    if (!account.most.gpu_hours || account.slices == 0 || spent(account)) continue;
    const double left = slice_seconds_most(account) - slice_seconds_used(account);
    const double micros = std::ceil(left / static_cast<double>(account.slices) * 1e6);
    const double length = static_cast<double>(length_of(rules_.period).count);
    const Micros span{static_cast<std::int64_t>(std::clamp(micros, 1.0, length))};
    next = std::min(next, now_ + span);
  }
  return next;
}

// ---- what is shown

QuotaLine Quotas::line_of(const Account& account) const {
  QuotaLine line{account.kind, account.name, account.id, {}};
  const auto add = [&](std::string amount, double used, double most) {
    line.uses.push_back({std::move(amount), used, most});
  };
  const QuotaAmounts& most = account.most;
  const auto count = [](std::int64_t number) { return static_cast<double>(number); };
  if (most.jobs) add("jobs", count(account.jobs), count(*most.jobs));
  if (most.running) add("running", count(account.running), count(*most.running));
  if (most.slices) add("slices", count(account.slices), count(*most.slices));
  for (const QuotaAmounts::OfSize& each : most.instances) {
    add(fmt::format("{}g", each.size),
        count(account.instances[static_cast<std::size_t>(each.size)]), count(each.most));
  }
  if (most.gpu_hours) add("gpu-hours", gpu_hours_used(account), *most.gpu_hours);
  if (most.joules) add("joules", account.joules, *most.joules);
  return line;
}

std::vector<QuotaLine> Quotas::lines() const {
  std::vector<QuotaLine> lines;
  for (const auto& [uid, holder] : users_) lines.push_back(line_of(accounts_[holder]));
  for (const auto& [gid, holder] : groups_) lines.push_back(line_of(accounts_[holder]));
  return lines;
}

std::vector<QuotaLine> Quotas::lines_of(const launch::Owner& owner) const {
  std::vector<QuotaLine> lines;
  const QuotaRule* others = default_rule();
  if (others != nullptr && !users_.contains(owner.uid)) {
    Account unused;
    unused.id = owner.uid;
    unused.most = others->most;
    lines.push_back(line_of(unused));
  }
  for (const Holder holder : holders_of(owner)) lines.push_back(line_of(accounts_[holder]));
  return lines;
}

}  // namespace partita::control
