// RunRecord: one policy on one day, as a line of a result file holds it
// (docs/reference/results.md).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/seeds.h"

namespace partita::experiment {

// Names a run inside an experiment; result files are in this order.
struct RunKey {
  std::string setting;
  std::string policy;
  std::uint64_t seed = 0;

  auto operator<=>(const RunKey&) const = default;
  // "rate=20, cedf/static, day 1000000".
  std::string text() const;
};

// Members are the keys of docs/reference/results.md, which says what they mean.
struct RunRecord {
  std::string experiment;
  std::string setting;
  std::string policy;
  std::string scheduler;
  std::string repartition;
  std::uint64_t seed = 0;
  Role role = Role::kTest;
  double energy_j = 0;
  double energy_w_min = 0;
  double mean_tardiness_s = 0;
  double p50_tardiness_s = 0;
  double p95_tardiness_s = 0;
  double p99_tardiness_s = 0;
  double max_tardiness_s = 0;
  double late_share = 0;
  double mean_wait_s = 0;
  double compute_utilisation = 0;
  double memory_utilisation = 0;
  std::uint64_t jobs = 0;
  std::uint64_t gpus = 0;
  std::uint64_t events = 0;
  std::uint64_t decisions = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t repartitions = 0;
  std::uint64_t instances_created = 0;
  std::uint64_t instances_destroyed = 0;
  std::uint64_t out_of_memory = 0;
  std::uint64_t early_restarts = 0;
  double makespan_s = 0;
  double et_a = 0;
  double et = 0;
  std::string layout_shares = {};            // "1=0.25,2=0.75", or empty where nobody asked
  std::optional<double> fragmentation = {};  // where it was measured; else the line has no such key

  bool operator==(const RunRecord&) const = default;
  RunKey key() const { return {setting, policy, seed}; }
};

// Numbers finite, text UTF-8, and the seed one of its role.
Status check_record(const RunRecord& record);

// One line without its end. Reading it back gives the same record, every bit of it.
// REQUIRES: check_record(record).
std::string format_record(const RunRecord& record);
// The sentence of an error names the key; the caller adds the place.
Result<RunRecord> parse_record(std::string_view line);

}  // namespace partita::experiment
