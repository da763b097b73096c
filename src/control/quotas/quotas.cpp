#include "control/quotas/quotas.h"

#include <fmt/format.h>

#include <algorithm>

namespace partita::control {

Quotas::Quotas(QuotaRules rules, const mig::GpuModel& model, std::size_t gpus)
    : rules_(std::move(rules)),
      model_(model),
      fleet_slices_(static_cast<std::int64_t>(gpus) * model.compute_slices),
      clock_{.period = rules_.period, .now = {}, .start = {}} {
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

void Quotas::open(QuotaHolder kind, std::uint32_t id, const std::string& name,
                  const QuotaAmounts& most) {
  auto& index = kind == QuotaHolder::kGroup ? groups_ : users_;
  index[id] = static_cast<Holder>(accounts_.size());
  Account& account = accounts_.emplace_back(Account{{model_, kind, id, name, most}});
  read_rows(account.books);
  account.told = account.books.startable(clock_);
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
  clock_.now = now;
  if (!any()) return;
  const Micros start = start_of(rules_.period, now);
  if (start == clock_.start) return;
  clock_.start = start;
  for (Account& account : accounts_) {
    const bool used = account.books.slice_seconds_over() > 0 || account.books.joules() > 0;
    account.unwritten = account.unwritten || used;
    account.books.begin_period();
  }
}

void Quotas::add_job(const launch::Owner& owner) {
  for (const Holder holder : enter(owner)) accounts_[holder].books.add_jobs(1);
}

void Quotas::remove_job(const launch::Owner& owner) {
  for (const Holder holder : holders_of(owner)) accounts_[holder].books.add_jobs(-1);
}

std::optional<Quotas::Span> Quotas::span_of(const store::AttemptRow& attempt) const {
  const Result<mig::ProfileIndex> profile = mig::parse_profile(model_, attempt.profile);
  if (!profile) return {};
  return Span{model_.profiles[*profile].compute_slices,
              std::max(clock_.start, Micros{attempt.started_us})};
}

void Quotas::begin(const launch::Owner& owner, const store::AttemptRow& attempt) {
  if (!any()) return;
  const auto span = span_of(attempt);
  if (!span) return;
  for (const Holder holder : enter(owner)) {
    accounts_[holder].books.begin(span->size, span->from - clock_.start);
  }
}

void Quotas::end(const launch::Owner& owner, const store::AttemptRow& attempt) {
  if (!any()) return;
  const auto span = span_of(attempt);
  if (!span) return;
  const Micros lasted = std::max(Micros{}, Micros{attempt.ended_us} - span->from);
  for (const Holder holder : holders_of(owner)) {
    accounts_[holder].books.end(span->size, span->from - clock_.start, lasted);
    accounts_[holder].unwritten = true;
  }
}

void Quotas::add_joules(const launch::Owner& owner, double joules) {
  for (const Holder holder : holders_of(owner)) {
    accounts_[holder].books.add_joules(joules);
    accounts_[holder].joules_booked = true;
  }
}

// ---- what may be

bool Quotas::may_start(const launch::Owner& owner, mig::ProfileIndex profile) const {
  return std::ranges::all_of(
      holders_of(owner), [&](Holder holder) { return (startable(holder) >> profile & 1U) != 0; });
}

std::size_t Quotas::admitted_max(Holder holder) const {
  const QuotaAmounts& most = account(holder).most();
  const std::int64_t at_once = std::min(
      {most.running.value_or(fleet_slices_), most.slices.value_or(fleet_slices_), fleet_slices_});
  return static_cast<std::size_t>(at_once + kAhead);
}

std::optional<std::string> Quotas::no_room_for(const launch::Owner& owner, std::size_t count) {
  for (const Holder holder : enter(owner)) {
    const QuotaAccount& books = account(holder);
    const std::optional<std::int64_t> most = books.most().jobs;
    if (!most || books.jobs() + static_cast<std::int64_t>(count) <= *most) continue;
    return fmt::format("quota: {} may have at most {} job{} in the queue, has {} and asks for {}",
                       books.title(), *most, *most == 1 ? "" : "s", books.jobs(), count);
  }
  return {};
}

std::optional<std::string> Quotas::never(const launch::Owner& owner, std::uint16_t fits) {
  for (const Holder holder : enter(owner)) {
    if (std::string why = account(holder).why_never(fits); !why.empty()) return why;
  }
  return {};
}

void Quotas::note_wait(Holder holder) {
  Account& account = accounts_[holder];
  const std::uint16_t now = startable(holder);
  if (std::exchange(account.told, now) != now) account.changed = true;
}

std::vector<Quotas::Holder> Quotas::take_changed_holders() {
  std::vector<Holder> changed;
  for (Holder holder = 0; holder < accounts_.size(); ++holder) {
    if (account(holder).jobs() == 0) continue;  // nobody waits for it
    note_wait(holder);
    if (std::exchange(accounts_[holder].changed, false)) changed.push_back(holder);
  }
  return changed;
}

// Who has no jobs need not be looked at.
Micros Quotas::next_time() const {
  Micros next = Micros::max();
  for (const Account& each : accounts_) {
    if (each.books.jobs() == 0 || !each.books.most().of_period()) continue;
    next = std::min({next, clock_.end(), each.books.spent_at(clock_)});
  }
  return next;
}

// ---- what is shown

std::vector<QuotaLine> Quotas::lines() const {
  std::vector<QuotaLine> lines;
  for (const auto& [uid, holder] : users_) lines.push_back(account(holder).line(clock_));
  for (const auto& [gid, holder] : groups_) lines.push_back(account(holder).line(clock_));
  return lines;
}

std::vector<QuotaLine> Quotas::lines_of(const launch::Owner& owner) const {
  std::vector<QuotaLine> lines;
  const QuotaRule* others = default_rule();
  if (others != nullptr && !users_.contains(owner.uid)) {
    QuotaAccount unused(model_, QuotaHolder::kUser, owner.uid, "", others->most);
    read_rows(unused);
    lines.push_back(unused.line(clock_));
  }
  for (const Holder holder : holders_of(owner)) lines.push_back(account(holder).line(clock_));
  return lines;
}

}  // namespace partita::control
