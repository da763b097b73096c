#include "decide/usage_books.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace partita::decide {

UsageBooks::UsageBooks(const QueueRules& rules, OwnerOf owner_of)
    : order_(rules.fair_share), owner_of_(std::move(owner_of)), ledger_(rules.half_life) {
  CHECK(owner_of_ != nullptr);
}

void UsageBooks::begin(const View& view) {
  for (UserIndex i = 0; i < ledger_.users_end(); ++i) ledger_.set_rate(i, 0, view.now);
  std::ranges::fill(waiting_, 0);
  std::ranges::fill(present_, Presence{});
}

UsageBooks::Presence& UsageBooks::presence(UserIndex user) {
  if (user >= present_.size()) present_.resize(std::size_t{user} + 1);
  return present_[user];
}

// Where usage does not matter, users are not told apart.
UsageBooks::Group UsageBooks::group_of(const View& view, JobHandle job) {
  Owner owner = owner_of_(job, view.jobs[job]).value_or(Owner{});
  if (!by_usage()) owner.user = 0;
  const auto [found, is_new] =
      known_groups_.try_emplace({owner.priority, owner.user}, static_cast<Group>(groups_.size()));
  if (is_new) {
    groups_.push_back(owner);
    waiting_.push_back(0);
    presence(owner.user);
  }
  return found->second;
}

bool UsageBooks::before(Group first, Group second, Micros now) const {
  const Owner& a = groups_[first];
  const Owner& b = groups_[second];
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.user == b.user) return false;
  const bool much_a = holds_much(a.user);
  if (much_a != holds_much(b.user)) return !much_a;
  const double level_a = level(a.user, now);
  const double level_b = level(b.user, now);
  return level_a != level_b ? level_a < level_b : a.user < b.user;
}

// Idle power belongs to nobody.
double UsageBooks::rate_on(const View& view, const cluster::Slice& slice, int busy_compute) const {
  if (order_ != FairOrder::kJoules) return slice.compute_slices;
  const auto& watts = view.power.watts;
  const double drawn = watts[static_cast<std::size_t>(busy_compute)] - watts[0];
  return drawn * slice.compute_slices / busy_compute;
}

double UsageBooks::capacity(const View& view) const {
  const mig::GpuModel& model = *view.cluster.model;
  const double gpus = view.cluster.gpu_count();
  if (order_ != FairOrder::kJoules) return gpus * model.compute_slices;
  const auto& watts = view.power.watts;
  return gpus * (watts[static_cast<std::size_t>(model.compute_slices)] - watts[0]);
}

void UsageBooks::settle(const View& view, std::span<const Move> moves) {
  const auto& slices = view.cluster.slices;
  occupants_.resize(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) occupants_[i] = slices[i].job;
  for (const Move& move : moves) {
    const SliceId from = view.jobs[move.job].slice;
    if (from.valid() && occupants_[from.value] == move.job) occupants_[from.value] = {};
  }
  for (const Move& move : moves) {
    if (move.to.valid()) occupants_[move.to.value] = move.job;
  }
  busy_.assign(view.cluster.gpu_count(), 0);
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    if (occupants_[i].valid()) busy_[cluster::gpu_of(SliceId{i}).value] += slices[i].compute_slices;
  }
  rates_.assign(present_.size(), 0);
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    if (!occupants_[i].valid()) continue;
    const auto owner = owner_of_(occupants_[i], view.jobs[occupants_[i]]);
    if (!owner) continue;
    presence(owner->user);
    rates_.resize(present_.size(), 0);
    rates_[owner->user] += rate_on(view, slices[i], busy_[cluster::gpu_of(SliceId{i}).value]);
  }
  for (UserIndex user = 0; user < rates_.size(); ++user) {
    present_[user].rate = rates_[user];
    if (ledger_.rate(user) != rates_[user]) ledger_.set_rate(user, rates_[user], view.now);
  }
  const double weights = weight_present();
  fair_level_ = weights > 0 ? capacity(view) / weights : capacity(view);
}

void UsageBooks::expect_start(const View& view, Group group, SliceId slice) {
  const cluster::Slice& place = view.cluster.slice(slice);
  const int busy =
      view.cluster.gpus[cluster::gpu_of(slice).value].busy_compute_slices + place.compute_slices;
  const int most = view.cluster.model->compute_slices;
  presence(groups_[group].user).rate += rate_on(view, place, std::min(busy, most));
}

void UsageBooks::set_waiting(Group group, std::size_t jobs) {
  Presence& its = presence(groups_[group].user);
  its.waiting += jobs;
  its.waiting -= waiting_[group];
  waiting_[group] = jobs;
}

double UsageBooks::level(UserIndex user, Micros now) const {
  return by_usage() ? ledger_.mean_rate(user, now) / ledger_.weight(user) : 0;
}

bool UsageBooks::holds_much(UserIndex user) const {
  return by_usage() && present_[user].rate / ledger_.weight(user) >= kHeldMost * fair_level_;
}

double UsageBooks::weight_present() const {
  double weights = 0;
  for (UserIndex user = 0; user < present_.size(); ++user) {
    const bool here = present_[user].waiting > 0 || present_[user].rate > 0;
    if (here) weights += ledger_.weight(user);
  }
  return weights;
}

}  // namespace partita::decide
