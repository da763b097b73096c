// LearnedRepartitioner: asks a trained network which mix of layouts the fleet should have.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "decide/repartitioner.h"
#include "nn/network.h"
#include "nn/range_recorder.h"
#include "policies/learned/familiarity.h"
#include "policies/learned/mix_rules.h"

namespace partita::policies {

// The time of a decision does not grow with the fleet (but with kDraw, as published).
class LearnedRepartitioner : public decide::Repartitioner {
 public:
  // REQUIRES: the rules are those of the model.
  LearnedRepartitioner(nn::Model model, MixRules rules, std::uint32_t gpus);

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override;
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return rules_.every_events; }
  bool watches_arrivals() const override { return true; }
  void job_arrived(const decide::View& view, cluster::JobHandle job) override {
    state_.job_arrived(view.now);
    familiarity_.job_arrived(view.jobs[job]);
  }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

  // Whether it sees what it was trained on.
  Trust trust() const { return familiarity_.trust(); }
  bool recorded() const { return familiarity_.recorded(); }
  // For training: what it sees from now on is recorded; the recorder outlives it.
  void record(nn::RangeRecorder& recorder) { record_ = &recorder; }

 private:
  nn::Model model_;
  MixRules rules_;
  std::uint32_t gpus_;
  MixState state_;
  Familiarity familiarity_;
  nn::RangeRecorder* record_ = nullptr;
  nn::Evaluator evaluate_;
  Rng rng_{1};
  std::vector<float> observation_;
  std::vector<std::uint8_t> allowed_;
  std::vector<float> probabilities_;
  std::vector<std::uint16_t> draws_;
  std::vector<std::uint16_t> table_;
};

// From a model file; errors name it.
Result<std::unique_ptr<LearnedRepartitioner>> load_learned_repartitioner(const std::string& path,
                                                                         const mig::GpuModel& model,
                                                                         std::uint32_t gpus);

}  // namespace partita::policies
