// MixRules: how a learned repartitioner's outputs become layouts; and MixState, the part of it that
// moves. Training and decisions use this same code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/layout_request.h"
#include "nn/choice_table.h"
#include "nn/model.h"
#include "policies/learned/fleet_mix.h"
#include "policies/learned/mix_menu.h"
#include "policies/learned/observation.h"

namespace partita::policies {

// What becomes of the probabilities the network gives.
enum class MixPick : std::uint8_t {
  kBest,  // the most likely mix of the menu
  kMean,  // all mixes of the menu, weighed by their probabilities
  kDraw,  // every GPU draws its next layout from the row of its present one (SMART-MIG)
};

struct MixRules {
  Encoding encoding = Encoding::kMeanFieldPlus;
  MixPick pick = MixPick::kBest;
  const mig::GpuModel* model = nullptr;
  std::string menu_text;
  MixMenu menu;
  std::size_t start = 0;           // entry of the menu the day begins with
  std::uint64_t every_events = 5;  // arrivals and completions between two decisions
  int moves_max = 8;               // GPUs it may change at a decision (not with kDraw)
  double reluctance = 0.5;         // see FleetMix::move_towards
  Micros rest;                     // see FleetMix
  int top = 0;                     // kDraw: from so many most likely layouts; 0: from all

  nn::TableShape table() const;
  std::size_t observation_size() const;
};

// REQUIRES of `model`: it outlives the rules. The menu is that of `menu_text`.
Result<MixRules> make_mix_rules(Encoding encoding, MixPick pick, const mig::GpuModel& model,
                                std::string_view menu_text);

// The rules stand in the header of a model file.
void write_rules(const MixRules& rules, nn::ModelFacts& facts);
Result<MixRules> read_rules(const nn::Model& model, const mig::GpuModel& gpu);

class MixState {
 public:
  // REQUIRES: the rules outlive it.
  explicit MixState(const MixRules& rules);

  std::vector<mig::Layout> begin(std::uint32_t gpus);
  void job_arrived(Micros now) { observation_.job_arrived(now); }
  // Once for each decision: it remembers the jobs it looked at.
  void observe(const decide::View& view, std::span<float> out);
  // How many things each row of the table has: GPUs by layout with kDraw, else one.
  void draws(std::span<std::uint16_t> out) const;

  void take(const decide::View& view, std::size_t entry,
            std::vector<decide::LayoutRequest>& requests);
  void take_mean(const decide::View& view, std::span<const float> probabilities,
                 std::vector<decide::LayoutRequest>& requests);
  void take_table(const decide::View& view, std::span<const std::uint16_t> table,
                  std::vector<decide::LayoutRequest>& requests);

 private:
  const MixRules& rules_;
  FleetMix mix_;
  FleetObservation observation_;
  std::vector<float> shares_;
};

}  // namespace partita::policies
