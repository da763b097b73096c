#include "decide/fair_share.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace partita::decide {

FairShare::FairShare(Micros half_life)
    : half_life_(half_life), decay_(std::numbers::ln2 / half_life.to_seconds()) {
  CHECK(half_life > Micros{});
}

FairShare::User& FairShare::at(UserIndex user) {
  if (user >= users_.size()) users_.resize(std::size_t{user} + 1);
  return users_[user];
}

// Usage u that decays by d and grows by r a second: u' = r - d u.
void FairShare::settle(User& user, Micros now) const {
  if (now <= user.at) return;
  const double seconds = (now - user.at).to_seconds();
  const double level = user.rate / decay_;
  user.usage = level + (user.usage - level) * std::exp(-decay_ * seconds);
  user.total += user.rate * seconds;
  user.at = now;
}

void FairShare::set_weight(UserIndex user, double weight) {
  CHECK(std::isfinite(weight) && weight > 0);
  at(user).weight = weight;
}

void FairShare::set_rate(UserIndex user, double per_second, Micros now) {
  User& its = at(user);
  settle(its, now);
  its.rate = per_second;
}

void FairShare::add(UserIndex user, double amount, Micros now) {
  User& its = at(user);
  settle(its, now);
  its.usage += amount;
  its.total += amount;
}

double FairShare::usage(UserIndex user, Micros now) const {
  if (user >= users_.size()) return 0;
  User its = users_[user];
  settle(its, now);
  return its.usage;
}

double FairShare::total(UserIndex user, Micros now) const {
  if (user >= users_.size()) return 0;
  User its = users_[user];
  settle(its, now);
  return its.total;
}

double FairShare::mean_rate(UserIndex user, Micros now) const {
  return decay_ * usage(user, now);
}

std::vector<UsageRow> FairShare::rows(Micros now) const {
  std::vector<UsageRow> rows;
  for (UserIndex i = 0; i < users_.size(); ++i) {
    User its = users_[i];
    settle(its, now);
    if (its.total > 0) rows.push_back({i, its.usage, its.total, its.at});
  }
  return rows;
}

void FairShare::restore(std::span<const UsageRow> rows) {
  clear();
  for (const UsageRow& row : rows) {
    User& its = at(row.user);
    its.usage = row.usage;
    its.total = row.total;
    its.at = row.at;
  }
}

void FairShare::clear() {
  for (User& user : users_) {
    const double weight = user.weight;
    user = User{};
    user.weight = weight;
  }
}

}  // namespace partita::decide
