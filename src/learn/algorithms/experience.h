// Experience: what a policy saw, did and got in a stretch of steps of many environments, and the
// advantages that follow from it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/rng.h"
#include "learn/algorithms/running_statistics.h"
#include "learn/environments/env.h"
#include "nn/network.h"

namespace partita::learn {

// Samples stand by time, and by environment within a time.
struct Experience {
  void resize(const EnvSpec& env_spec, std::size_t times, std::size_t envs);
  std::size_t samples() const { return rewards.size(); }

  // Generalised advantage estimation (Schulman et al., 2016). `last_values` are of the states after
  // the last step, one an environment.
  void estimate_advantages(std::span<const float> last_values, double discount, double lambda);

  EnvSpec spec;
  std::size_t envs = 0;
  std::vector<float> observations;  // normalised
  std::vector<std::uint8_t> allowed;
  std::vector<std::uint16_t> tables;
  std::vector<float> log_probabilities;
  std::vector<float> values;
  std::vector<float> rewards;  // scaled
  std::vector<std::uint8_t> done;
  std::vector<float> advantages;
  std::vector<float> returns;
};

// Episodes that ended while collecting.
struct EpisodeTally {
  std::uint64_t episodes = 0;
  double reward = 0;  // unscaled, sum over them
};

// Many environments in step. Environment e plays the episodes e, e + n, e + 2n, ... of n.
//
// They stand in groups of a fixed size, each with its own random numbers, so that groups can be
// played by different threads and the result does not depend on how many there are.
class Collector {
 public:
  // REQUIRES: at least one environment, all of the same spec.
  explicit Collector(std::vector<std::unique_ptr<Env>> envs);

  const EnvSpec& spec() const { return spec_; }
  std::size_t env_count() const { return envs_.size(); }

  // Every environment begins its next episode.
  void restart();

  // Fills `experience` by `times` steps of every environment. No allocation once the sizes are
  // settled. `seed` and `purpose` are of the random numbers that draw the decisions; group g has
  // those of purpose + g.
  EpisodeTally collect(const nn::Network& policy, const nn::Network& value, std::size_t times,
                       int top, double discount, std::uint64_t seed, std::uint64_t purpose,
                       ThreadTeam& team, Experience& experience);
  // Values of the present states.
  std::span<const float> last_values(const nn::Network& value);

  RunningStatistics& observation_statistics() { return observed_; }
  RunningStatistics& return_statistics() { return returned_; }
  std::uint64_t& rounds() { return rounds_; }
  // Set before collecting: how observations are normalised from now on.
  void settle_normaliser();
  const nn::Normaliser& normaliser() const { return normaliser_; }
  bool normalises = true;

  static constexpr std::uint64_t kGroupsMax = 4;

 private:
  struct Copy {
    std::unique_ptr<Env> env;
    std::uint64_t next_episode = 0;
    double reward = 0;      // of this episode so far
    double discounted = 0;  // running discounted return, for the scale of rewards
  };
  // Environments first .. first + count - 1.
  struct Group {
    std::size_t first = 0;
    std::size_t count = 0;
    RunningStatistics observed{0};
    RunningStatistics returned{1};
    EpisodeTally tally;
    nn::Floats states;  // one column an environment
    std::vector<std::uint8_t> allowed;
    std::vector<std::uint16_t> draws;
    std::vector<float> probabilities;
    nn::Activations policy;
    nn::Activations value;
  };
  struct Play {
    const nn::Network& policy;
    const nn::Network& value;
    int top;
    double discount;
    float scale;  // of rewards
  };
  void make_groups();
  void observe(Group& group, bool counts);
  void decide_all(const Play& play, Group& group, Rng& rng, Experience& experience,
                  std::size_t first);
  void step_all(const Play& play, Group& group, Experience& experience, std::size_t first);
  void play_group(const Play& play, Group& group, std::size_t times, Rng rng,
                  Experience& experience);

  EnvSpec spec_;
  std::vector<Copy> envs_;
  std::vector<Group> groups_;
  RunningStatistics observed_;
  RunningStatistics returned_{1};
  nn::Normaliser normaliser_;
  std::uint64_t rounds_ = 0;  // how often restart() was called
  std::vector<float> last_values_;
};

}  // namespace partita::learn
