// PapersMix: the jobs of the papers (four types, their durations, their deadline law), without the
// law of their arrivals.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "base/rng.h"
#include "workload/curves.h"
#include "workload/job_source.h"

namespace partita::workload {

// Defaults: SMART-MIG (IPDPS 2026) and the notebooks of the same group.
struct PapersMixOptions {
  double deadline_low = 1.0;  // deadline = arrival + U(low, high) x the time on the whole GPU
  double deadline_high = 1.5;
  double training_share = 0.2;
  double bert_share = 2.0 / 3.0;       // of training and of inference alike; the rest is ResNet
  double inference_mean_min = 3;       // exponential, on a slice of size 1
  double training_low_min = 40;        // 5 % quantile of a log-normal, on a slice of size 1
  double training_high_min = 60;       // 95 % quantile
  std::array<double, 4> memory_gib{};  // by kPapersClasses
};

inline constexpr std::array<std::string_view, 4> kPapersClasses{
    "bert-inference", "resnet-inference", "bert-training", "resnet-training"};

Status check_options(const PapersMixOptions& options);

// Types, durations and deadlines have a random stream each, and every job takes the same number of
// draws from each, so changing one option leaves what the others decide as it was.
class PapersMix {
 public:
  // REQUIRES: check_options(options).
  PapersMix(const PapersMixOptions& options, std::uint64_t seed);

  // Everything but the id.
  void fill(JobRow& row, Micros arrival);

 private:
  PapersMixOptions options_;
  std::array<const Curve*, 4> curves_{};
  double training_mu_;
  double training_sigma_;
  Rng types_;
  Rng durations_;
  Rng deadlines_;
};

}  // namespace partita::workload
