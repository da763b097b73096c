#include "learn/algorithms/experience.h"

#include <algorithm>

#include "base/check.h"

namespace partita::learn {
namespace {

// Of one sample of width `width` in a row of samples.
template <typename T, typename A>
std::span<T> piece(std::vector<T, A>& all, std::size_t index, std::size_t width) {
  return std::span(all).subspan(index * width, width);
}

// A restart moves every environment this many episodes on, so that none is played twice.
constexpr std::uint64_t kEpisodesPerRound = 1 << 12;

}  // namespace

void Experience::resize(const EnvSpec& env_spec, std::size_t times, std::size_t env_count) {
  spec = env_spec;
  envs = env_count;
  const std::size_t count = times * envs;
  observations.resize(count * static_cast<std::size_t>(spec.observation));
  allowed.resize(count * static_cast<std::size_t>(spec.table.size()));
  tables.resize(count * static_cast<std::size_t>(spec.table.size()));
  for (auto* each : {&log_probabilities, &values, &rewards, &advantages, &returns}) {
    each->resize(count);
  }
  done.resize(count);
}

void Experience::estimate_advantages(std::span<const float> last_values, double discount,
                                     double lambda) {
  CHECK(last_values.size() == envs);
  for (std::size_t env = 0; env < envs; ++env) {
    double next_value = static_cast<double>(last_values[env]);
    double advantage = 0;
    for (std::size_t i = samples() - envs + env;; i -= envs) {
      const double goes_on = done[i] != 0 ? 0 : 1;
      const double value = static_cast<double>(values[i]);
      const double surprise =
          static_cast<double>(rewards[i]) + discount * goes_on * next_value - value;
      advantage = surprise + discount * lambda * goes_on * advantage;
      advantages[i] = static_cast<float>(advantage);
      returns[i] = static_cast<float>(advantage + value);
      next_value = value;
      if (i < envs) break;
    }
  }
}

Collector::Collector(std::vector<std::unique_ptr<Env>> envs)
    : spec_(envs.front()->spec()), observed_(static_cast<std::size_t>(spec_.observation)) {
  for (std::unique_ptr<Env>& env : envs) {
    CHECK(env->spec() == spec_);
    envs_.push_back({std::move(env), 0, 0, 0});
  }
  make_groups();
  last_values_.resize(envs_.size());
}

// Of at least four environments where there are so many: a network does a few states at once in
// little more time than one.
void Collector::make_groups() {
  const std::size_t count =
      std::clamp<std::size_t>(envs_.size() / 4, 1, static_cast<std::size_t>(kGroupsMax));
  for (std::size_t g = 0; g < count; ++g) {
    Group group;
    group.first = g * envs_.size() / count;
    group.count = (g + 1) * envs_.size() / count - group.first;
    group.observed = observed_;
    group.states.resize(group.count * static_cast<std::size_t>(spec_.observation));
    group.allowed.resize(group.count * static_cast<std::size_t>(spec_.table.size()));
    group.draws.resize(group.count * static_cast<std::size_t>(spec_.table.rows));
    group.probabilities.resize(static_cast<std::size_t>(spec_.table.size()));
    groups_.push_back(std::move(group));
  }
}

void Collector::restart() {
  for (std::size_t e = 0; e < envs_.size(); ++e) {
    Copy& copy = envs_[e];
    copy.next_episode = rounds_ * kEpisodesPerRound + e;
    copy.reward = copy.discounted = 0;
    copy.env->begin(copy.next_episode);
    copy.next_episode += envs_.size();
  }
  ++rounds_;
}

void Collector::settle_normaliser() {
  if (normalises && observed_.count() > 1) normaliser_ = observed_.normaliser();
}

void Collector::observe(Group& group, bool counts) {
  for (std::size_t i = 0; i < group.count; ++i) {
    const auto state = piece(group.states, i, static_cast<std::size_t>(spec_.observation));
    envs_[group.first + i].env->observe(
        state, piece(group.allowed, i, static_cast<std::size_t>(spec_.table.size())),
        piece(group.draws, i, static_cast<std::size_t>(spec_.table.rows)));
    if (normalises && counts) group.observed.add(state);
    normaliser_.apply(state);
  }
}

void Collector::decide_all(const Play& play, Group& group, Rng& rng, Experience& experience,
                           std::size_t first) {
  const auto table = static_cast<std::size_t>(spec_.table.size());
  group.policy.forward(play.policy, group.states, static_cast<int>(group.count),
                       nn::best_kernels());
  const std::span<const float> logits = group.policy.outputs();
  for (std::size_t i = 0; i < group.count; ++i) {
    const auto allowed = piece(group.allowed, i, table);
    nn::probabilities(spec_.table, logits.subspan(i * table, table), allowed, play.top,
                      group.probabilities);
    const auto decision = piece(experience.tables, first + i, table);
    nn::draw(spec_.table, group.probabilities,
             piece(group.draws, i, static_cast<std::size_t>(spec_.table.rows)), rng, decision);
    experience.log_probabilities[first + i] = nn::log_probability(group.probabilities, decision);
    std::ranges::copy(allowed, piece(experience.allowed, first + i, table).begin());
  }
}

void Collector::step_all(const Play& play, Group& group, Experience& experience,
                         std::size_t first) {
  for (std::size_t i = 0; i < group.count; ++i) {
    Copy& copy = envs_[group.first + i];
    const Step step = copy.env->step(
        piece(experience.tables, first + i, static_cast<std::size_t>(spec_.table.size())));
    copy.reward += static_cast<double>(step.reward);
    copy.discounted = copy.discounted * play.discount + static_cast<double>(step.reward);
    const auto discounted = static_cast<float>(copy.discounted);
    group.returned.add({&discounted, 1});
    experience.rewards[first + i] = step.reward * play.scale;
    experience.done[first + i] = step.done ? 1 : 0;
    if (!step.done) continue;
    ++group.tally.episodes;
    group.tally.reward += copy.reward;
    copy.reward = copy.discounted = 0;
    copy.env->begin(copy.next_episode);
    copy.next_episode += envs_.size();
  }
}

void Collector::play_group(const Play& play, Group& group, std::size_t times, Rng rng,
                           Experience& experience) {
  group.observed.clear();
  group.returned.clear();
  group.tally = {};
  const auto width = static_cast<std::size_t>(spec_.observation);
  for (std::size_t time = 0; time < times; ++time) {
    const std::size_t first = time * envs_.size() + group.first;
    observe(group, true);
    std::ranges::copy(group.states,
                      experience.observations.begin() + static_cast<std::ptrdiff_t>(first * width));
    group.value.forward(play.value, group.states, static_cast<int>(group.count),
                        nn::best_kernels());
    std::ranges::copy(group.value.outputs(),
                      experience.values.begin() + static_cast<std::ptrdiff_t>(first));
    decide_all(play, group, rng, experience, first);
    step_all(play, group, experience, first);
  }
}

EpisodeTally Collector::collect(const nn::Network& policy, const nn::Network& value,
                                std::size_t times, int top, double discount, std::uint64_t seed,
                                std::uint64_t purpose, ThreadTeam& team, Experience& experience) {
  experience.resize(spec_, times, envs_.size());
  const double spread = returned_.deviation(0);
  const float scale = spread > 1e-8 ? static_cast<float>(1 / spread) : 1.0F;
  const Play play{policy, value, top, discount, scale};
  team.run(groups_.size(), [&](std::size_t g, std::size_t) {
    play_group(play, groups_[g], times, Rng(seed, purpose + g), experience);
  });
  EpisodeTally tally;
  for (const Group& group : groups_) {
    if (normalises) observed_.merge(group.observed);
    returned_.merge(group.returned);
    tally.episodes += group.tally.episodes;
    tally.reward += group.tally.reward;
  }
  return tally;
}

std::span<const float> Collector::last_values(const nn::Network& value) {
  for (Group& group : groups_) {
    observe(group, false);
    group.value.forward(value, group.states, static_cast<int>(group.count), nn::best_kernels());
    std::ranges::copy(group.value.outputs(),
                      last_values_.begin() + static_cast<std::ptrdiff_t>(group.first));
  }
  return last_values_;
}

}  // namespace partita::learn
