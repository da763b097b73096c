// What the tests of this module share: a folder that goes away, files as text, records and jobs to
// begin with.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "experiment/results/run_record.h"
#include "mig/gpu_model.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

// Jobs of a minute on slices of any size, one every `every_s`, due two minutes after they come.
inline workload::Trace minute_jobs(int jobs, int every_s) {
  workload::Trace trace;
  trace.class_names = {"any"};
  for (int i = 0; i < jobs; ++i) {
    workload::Job job;
    job.arrival = Micros::seconds(every_s * i);
    job.deadline = job.arrival + Micros::seconds(120);
    job.time.fill(Micros::seconds(60));
    trace.add(job, std::to_string(i));
  }
  return trace;
}

inline sim::RunOptions a100_options(std::uint32_t gpus) {
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = gpus;
  return options;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "partita-experiment-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The line that docs/reference/results.md shows.
inline RunRecord specimen_record() {
  return {.experiment = "smart-mig",
          .setting = "rate=20",
          .policy = "cedf/static",
          .scheduler = "cedf",
          .repartition = "static:1,1,2,3,3,5,5,10",
          .seed = 1'000'000,
          .role = Role::kTest,
          .energy_j = 150612345.6,
          .energy_w_min = 2510205.76,
          .mean_tardiness_s = 96.4,
          .p50_tardiness_s = 12.1,
          .p95_tardiness_s = 401.2,
          .p99_tardiness_s = 902.9,
          .max_tardiness_s = 2110.7,
          .late_share = 0.503,
          .mean_wait_s = 3.2,
          .compute_utilisation = 0.73,
          .memory_utilisation = 0.72,
          .jobs = 4148,
          .gpus = 8,
          .events = 8296,
          .decisions = 8296,
          .preemptions = 88880,
          .repartitions = 0,
          .instances_created = 0,
          .instances_destroyed = 0,
          .out_of_memory = 0,
          .early_restarts = 0,
          .makespan_s = 86611.5,
          .et_a = 2e-07,
          .et = 2.11};
}

inline RunRecord record_of(const RunKey& key) {
  RunRecord record = specimen_record();
  record.setting = key.setting;
  record.policy = key.policy;
  record.seed = key.seed;
  return record;
}

}  // namespace partita::experiment
