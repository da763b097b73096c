#include "learn/systems.h"

#include "base/named.h"

namespace partita::learn {
namespace {

using policies::Encoding;
using policies::MixPick;

System mean_field() {
  System system;
  system.name = "mean-field";
  system.summary = "every GPU draws its next layout from a 12 x 12 table that PPO learns";
  system.source = "Yu et al., SMART-MIG, IPDPS 2026";
  system.encoding = Encoding::kMeanField;
  system.pick = MixPick::kDraw;
  system.top = 3;
  system.every_events = 5;
  system.early_tardiness = false;
  system.ppo.steps = 8'000'000;  // about 5,000 days at rate 20
  system.evolution.steps = 0;
  return system;
}

System mean_field_plus() {
  System system;
  system.name = "mean-field+";
  system.summary = "a target mix for the fleet from how much work there is; fewest GPUs change";
  system.source = "this project";
  system.encoding = Encoding::kMeanFieldPlus;
  system.pick = MixPick::kMean;
  system.menu = ladder_menu();
  system.every_events = 5;
  system.reluctance = 0.5;
  system.ppo.steps = 1'500'000;
  system.ppo.hidden = {32, 32};
  system.ppo.learning_rate = 1e-3;
  system.ppo.learning_rate_end = 5e-5;
  system.ppo.minibatch = 1024;
  system.ppo.steps_per_round = 64;
  system.evolution.steps = 200;
  return system;
}

System repartition_plus() {
  System system = mean_field_plus();
  system.name = "repartition+";
  system.summary = "one of the 12 layouts for a single GPU from how much work there is";
  system.pick = MixPick::kBest;
  system.menu = "";
  system.every_events = 1;
  system.ppo.steps = 1'000'000;
  system.evolution.days = 8;
  system.evolution.steps = 300;
  return system;
}

System repartition_dqn() {
  System system;
  system.name = "repartition-dqn";
  system.summary = "one of the 12 layouts for a single GPU, by deep Q-learning";
  system.source = "Lipe et al., CCGrid 2025";
  system.algorithm = Algorithm::kDqn;
  system.encoding = Encoding::kMeanField;
  system.pick = MixPick::kBest;
  system.every_events = 1;
  system.early_tardiness = false;
  system.evolution.steps = 0;
  return system;
}

System place_ppo() {
  System system;
  system.name = "place-ppo";
  system.summary = "a slice for the job with the earliest deadline, by PPO";
  system.source = "Hisaria et al., technical report 2025 (ENHANCED)";
  system.decides = Decides::kPlacements;
  system.envs = 8;
  system.ppo.hidden = {256, 256, 128};
  system.ppo.steps = 500'000;
  system.ppo.steps_per_round = 1024;
  system.ppo.minibatch = 4096;
  system.ppo.epochs = 10;
  system.ppo.clip = 0.15;
  system.ppo.entropy = 0.02;
  system.ppo.normalise_observations = false;
  system.ppo.rounds_per_checkpoint = 10;
  system.evolution.steps = 0;
  return system;
}

System place_plus() {
  System system;
  system.name = "place+";
  system.summary = "a score for every waiting job and kind of slice; the best pair, or waiting";
  system.source = "this project";
  system.decides = Decides::kPlacements;
  system.algorithm = Algorithm::kEvolution;
  system.ppo.hidden = {16, 16};
  system.evolution.steps = 300;
  system.evolution.pairs = 16;
  system.evolution.days = 2;
  system.evolution.spread = 0.08;
  system.evolution.learning_rate = 0.03;
  system.evolution.learning_rate_end = 0.004;
  return system;
}

}  // namespace

std::string_view ladder_menu() {
  return "1*8;1*7,3*1;1*7,6*1;1*6,2*2;1*6,2*1,6*1;1*5,2*2,6*1;1*4,2*4;1*4,2*3,6*1;1*3,2*4,10*1;"
         "1*2,2*6;1*2,2*5,3*1;1*1,2*6,9*1;2*8;2*7,6*1;2*6,6*1,9*1;2*5,6*2,9*1;2*4,6*3,10*1;"
         "2*3,6*3,7*1,10*1;2*2,6*2,7*1,8*2,9*1;2*3,6*3,9*1,10*1;2*2,6*3,9*2,10*1;6*4,9*2,10*2;"
         "6*2,9*4,10*2;9*4,10*2,12*2";
}

const std::vector<System>& systems() {
  static const std::vector<System> kSystems{mean_field(), mean_field_plus(),  place_plus(),
                                            place_ppo(),  repartition_plus(), repartition_dqn()};
  return kSystems;
}

Result<const System*> find_system(std::string_view name) {
  return find_named("system", name, systems(), &System::name);
}

}  // namespace partita::learn
