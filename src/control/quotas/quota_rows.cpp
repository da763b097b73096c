// The part of Quotas that outlives the daemon: what was used in a period, as rows of the store.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/quotas/quotas.h"

namespace partita::control {
namespace {

// Names are on disk: quota.HOLDER.PERIOD.WHAT, of a user's or group's number.
constexpr std::string_view kQuotaRows = "quota.";
constexpr std::string_view kSince = "since";  // seconds; of the period that the others are of
constexpr double kOutdated = -1;              // the same where nobody went on with them
constexpr std::string_view kHeldSeconds = "slice_seconds";
constexpr std::string_view kJoules = "joules";

}  // namespace

bool Quotas::is_quota_row(const store::TotalRow& row) {
  return row.name.starts_with(kQuotaRows);
}

std::string Quotas::row_name(QuotaHolder kind, std::string_view what) const {
  return fmt::format("{}{}.{}.{}", kQuotaRows, name_of(kind), name_of(rules_.period), what);
}

bool Quotas::keeps(std::int64_t id, const std::string& row) const {
  const auto number = static_cast<std::uint32_t>(id);
  if (row == row_name(QuotaHolder::kGroup, kSince)) {
    const auto group = groups_.find(number);
    return group != groups_.end() && account(group->second).most().of_period();
  }
  if (row != row_name(QuotaHolder::kUser, kSince)) return false;
  const auto user = users_.find(number);
  if (user != users_.end()) return account(user->second).most().of_period();
  const QuotaRule* others = default_rule();
  return others != nullptr && others->most.of_period();
}

bool Quotas::read_rows(QuotaAccount& account) const {
  const auto value = [&](std::string_view what) -> std::optional<double> {
    const auto found = stored_.find({account.id(), row_name(account.kind(), what)});
    if (found == stored_.end()) return {};
    return found->second;
  };
  const auto since = value(kSince);
  if (!since || *since == kOutdated) return false;
  if (*since != clock_.start.to_seconds()) return true;  // nothing of this one yet
  account.set_used(value(kHeldSeconds).value_or(0), value(kJoules).value_or(0));
  return true;
}

// Rows that nobody goes on with would be wrong if somebody did later in the same period.
void Quotas::read(const std::vector<store::TotalRow>& rows, const JobTable& jobs) {
  for (const store::TotalRow& row : rows) {
    if (!is_quota_row(row)) continue;
    stored_[{row.uid, row.name}] = row.value;
    const bool since = row.name.ends_with(kSince) && row.value != kOutdated;
    if (since && !keeps(row.uid, row.name)) outdated_.push_back({row.uid, row.name, kOutdated});
  }
  if (!any()) return;
  for (const auto& [id, job] : jobs.all()) enter(job.owner);
  for (Account& account : accounts_) {
    if (read_rows(account.books) || !account.books.most().of_period()) continue;
    count_attempts(account.books, jobs);
    account.unwritten = true;
  }
}

// Of attempts that are over; those under way count as they run, but for their joules. What an
// attempt took before the period began does not count, as if it had drawn the same all the time.
void Quotas::count_attempts(QuotaAccount& account, const JobTable& jobs) const {
  double slice_seconds = 0;
  double joules = 0;
  const bool user = account.kind() == QuotaHolder::kUser;
  for (const auto& [id, job] : jobs.all()) {
    if ((user ? job.owner.uid : job.owner.gid) != account.id()) continue;
    for (const store::AttemptRow& attempt : job.attempts) {
      const auto span = span_of(attempt);
      const bool over = attempt.ended_us > 0;
      const Micros until = over ? std::min(clock_.now, Micros{attempt.ended_us}) : clock_.now;
      if (!span || until <= span->from) continue;
      const double seconds = (until - span->from).to_seconds();
      const double whole = (until - Micros{attempt.started_us}).to_seconds();
      if (over) slice_seconds += span->size * seconds;
      joules += attempt.energy_j * seconds / whole;
    }
  }
  account.set_used(slice_seconds, joules);
}

void Quotas::note_books_due() {
  for (Account& account : accounts_) {
    const bool booked = std::exchange(account.joules_booked, false);
    account.unwritten = account.unwritten || booked;
  }
}

std::vector<store::TotalRow> Quotas::take_changed() {
  std::vector<store::TotalRow> rows = std::exchange(outdated_, {});
  for (Account& account : accounts_) {
    const QuotaAccount& books = account.books;
    if (!std::exchange(account.unwritten, false) || !books.most().of_period()) continue;
    rows.push_back({books.id(), row_name(books.kind(), kSince), clock_.start.to_seconds()});
    rows.push_back({books.id(), row_name(books.kind(), kHeldSeconds), books.slice_seconds_over()});
    rows.push_back({books.id(), row_name(books.kind(), kJoules), books.joules()});
  }
  return rows;
}

}  // namespace partita::control
