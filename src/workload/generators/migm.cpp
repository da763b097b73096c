#include "workload/generators/migm.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "workload/curves.h"
#include "workload/generators/papers_mix.h"
#include "workload/generators/purposes.h"
#include "workload/option_checks.h"

namespace partita::workload {
namespace {

constexpr double kFarDeadlineSeconds = 30 * 86'400;
constexpr double kGib = 1024.0 * 1024 * 1024;

// General programs.
constexpr double kProgramMedianSeconds = 60;
constexpr double kProgramSigma = 0.5;
constexpr double kProgramGibLow = 0.25;
constexpr double kProgramGibHigh = 4.5;

// Training.
constexpr double kTrainingGibLow = 5;
constexpr double kTrainingGibHigh = 19.5;

// Language models: 16-bit weights and cache, eight sequences side by side.
struct LanguageModel {
  std::string_view name;
  double parameters = 0;
  int layers = 0;
  double cache_bytes_per_token = 0;  // keys and values of all layers
};
constexpr std::array<LanguageModel, 3> kModels{{
    {"llm-1b", 1.10e9, 22, 2.0 * 22 * 256 * 2},
    {"llm-3b", 3.43e9, 26, 2.0 * 26 * 3200 * 2},
    {"llm-7b", 6.74e9, 32, 2.0 * 32 * 4096 * 2},
}};
constexpr double kSequences = 8;
constexpr double kPromptLow = 128;
constexpr double kPromptHigh = 1024;
constexpr double kOutputLow = 512;
constexpr double kOutputHigh = 4096;
constexpr double kContextGib = 0.6;
constexpr double kNoiseGib = 0.02;
constexpr double kBytesPerSecond = 1555e9;                                  // A100 40GB
constexpr std::array<double, kSliceSizeCount> kMemoryShare{1, 2, 4, 4, 8};  // of 8

double hundredths(double gib) {
  return std::floor(gib * 100) / 100;
}

class Batch final : public JobSource {
 public:
  explicit Batch(const MigmOptions& options)
      : options_(options),
        types_(options.seed, kPurposeTypes),
        durations_(options.seed, kPurposeDurations),
        memory_(options.seed, kPurposeMemory) {}

  Result<bool> next(JobRow& row) override {
    if (count_ == options_.jobs) return false;
    set_id(row, ++count_);
    row.job = {};
    row.memory = {};
    row.job.deadline = micros_from_seconds(kFarDeadlineSeconds);
    if (options_.mix == "ml") {
      fill_training(row);
    } else if (options_.mix == "llm") {
      fill_language(row);
    } else {
      fill_program(row, options_.mix == "small" ? 1 : 3);
    }
    return true;
  }
  bool has_memory_curves() const override { return options_.mix == "llm"; }
  double progress() const override {
    return options_.jobs == 0 ? 1
                              : static_cast<double>(count_) / static_cast<double>(options_.jobs);
  }

 private:
  // No faster on more than so many compute slices; each number up to `most` as likely.
  void fill_program(JobRow& row, std::uint64_t most) {
    const auto useful = static_cast<int>(1 + types_.below(most));
    const double whole_gpu_s = durations_.lognormal(std::log(kProgramMedianSeconds), kProgramSigma);
    row.job_class = "capped-" + std::to_string(useful);
    for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
      const double speed = static_cast<double>(std::min(kSliceSizes[i], useful)) / useful;
      row.job.time[i] = std::max(Micros{1}, micros_from_seconds(whole_gpu_s / speed));
    }
    row.job.memory_gib =
        static_cast<float>(hundredths(memory_.uniform(kProgramGibLow, kProgramGibHigh)));
  }

  void fill_training(JobRow& row) {
    const PapersMixOptions papers;
    const bool bert = types_.uniform() < papers.bert_share;
    const Result<const Curve*> curve = find_curve(bert ? "bert-training" : "resnet-training");
    CHECK(curve.ok());
    const double low = std::log(papers.training_low_min);
    const double high = std::log(papers.training_high_min);
    constexpr double kQuantile95 = 1.645;
    const double minutes = durations_.lognormal((low + high) / 2, (high - low) / 2 / kQuantile95);
    row.job_class = (*curve)->name;
    row.job.time = times_on_slices(**curve, 1, minutes * 60);
    row.job.memory_gib =
        static_cast<float>(hundredths(memory_.uniform(kTrainingGibLow, kTrainingGibHigh)));
  }

  // Every token of the answers is one step through all layers. A step reads the weights and the
  // cache once, at the bandwidth of the slice's memory, but is never faster than its launches.
  void fill_language(JobRow& row) {
    const LanguageModel& model = kModels[types_.below(kModels.size())];
    const double prompt = std::floor(memory_.uniform(kPromptLow, kPromptHigh));
    const double steps = std::floor(durations_.uniform(kOutputLow, kOutputHigh));
    const double weights = 2 * model.parameters;
    const double cache_per_step = kSequences * model.cache_bytes_per_token;
    const double read = weights + cache_per_step * (prompt + steps / 2);
    for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
      const double reading_s = read / (kBytesPerSecond * kMemoryShare[i] / 8);
      const double launching_s = model.layers * options_.layer_ms / 1000;
      row.job.time[i] =
          std::max(Micros{1}, micros_from_seconds(steps * std::max(reading_s, launching_s)));
    }
    row.job_class = model.name;
    row.memory.start_gib = hundredths(kContextGib + (weights + cache_per_step * prompt) / kGib);
    row.memory.peak_gib = hundredths(row.memory.start_gib + cache_per_step * steps / kGib);
    row.memory.noise_gib = kNoiseGib;
    row.job.memory_gib = static_cast<float>(row.memory.start_gib);
  }

  MigmOptions options_;
  Rng types_;
  Rng durations_;
  Rng memory_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::vector<std::string> migm_mixes() {
  return {"general", "llm", "ml", "small"};
}

Result<std::unique_ptr<JobSource>> make_migm(const MigmOptions& options) {
  const std::vector<std::string> known = migm_mixes();
  if (std::ranges::find(known, options.mix) == known.end()) {
    return unknown_name("mix of jobs", options.mix, known);
  }
  OptionChecks checks;
  checks.within("milliseconds a layer", options.layer_ms, 0, 1000);
  if (const Status status = checks.status(); !status) return status.error();
  return std::unique_ptr<JobSource>(std::make_unique<Batch>(options));
}

}  // namespace partita::workload
