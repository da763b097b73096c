// Systems: the policies that can be trained, by name, with what each sees, chooses and is trained
// with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/algorithms/dqn.h"
#include "learn/algorithms/evolution.h"
#include "learn/algorithms/ppo.h"
#include "policies/learned/mix_rules.h"

namespace partita::learn {

enum class Algorithm : std::uint8_t { kPpo, kDqn, kEvolution };

// What a system decides.
enum class Decides : std::uint8_t { kLayouts, kPlacements };

struct System {
  std::string name;
  std::string summary;  // one line
  std::string source;
  Decides decides = Decides::kLayouts;
  Algorithm algorithm = Algorithm::kPpo;
  policies::Encoding encoding = policies::Encoding::kMeanFieldPlus;
  policies::MixPick pick = policies::MixPick::kBest;
  std::string menu;  // empty: every numbered layout of the GPU by itself
  int top = 0;
  std::uint64_t every_events = 5;
  double reluctance = 0.5;
  bool early_tardiness = true;   // see MixEnvOptions
  bool pays_for_changes = true;  // false: learns as if a change blocked nothing
  std::size_t envs = 32;
  PpoOptions ppo;
  DqnOptions dqn;
  // After the algorithm above; none with 0 steps.
  EvolutionOptions evolution;
};

const std::vector<System>& systems();
// The error lists the known names.
Result<const System*> find_system(std::string_view name);

// The menu of `mean-field+` for 7-slice GPUs: from whole GPUs to small slices, by how many jobs
// there are for each GPU.
std::string_view ladder_menu();

}  // namespace partita::learn
