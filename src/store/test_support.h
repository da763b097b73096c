// What tests of the store and of its users share: a folder that goes away, and random batches.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/store.h"

namespace partita::store::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "partita-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Bytes of every kind, quotes and nulls among them.
inline std::string random_text(Rng& rng, std::size_t most) {
  std::string text(rng.below(most + 1), ' ');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

inline JobProgress random_progress(Rng& rng, std::int64_t id) {
  return {.id = {id},
          .state = static_cast<std::int64_t>(rng.below(9)),
          .attempt = static_cast<std::int64_t>(rng.below(4)),
          .need_gib = rng.uniform(0, 80),
          .changed_us = static_cast<std::int64_t>(rng.next() >> 2),
          .reason = random_text(rng, 20),
          .stop_cause = static_cast<StopCause>(rng.below(5)),
          .held = static_cast<Held>(rng.below(3))};
}

inline AttemptRow random_attempt(Rng& rng, std::int64_t job) {
  return {.job = {job},
          .number = static_cast<std::int64_t>(rng.below(3)) + 1,
          .state = static_cast<std::int64_t>(rng.below(5)),
          .gpu = "GPU-" + random_text(rng, 8),
          .instance = "MIG-" + random_text(rng, 8),
          .profile = "1g.5gb",
          .start = static_cast<std::int64_t>(rng.below(8)),
          .started_us = static_cast<std::int64_t>(rng.next() >> 2),
          .ended_us = static_cast<std::int64_t>(rng.next() >> 2),
          .exit_code = static_cast<std::int64_t>(rng.below(256)),
          .signal = static_cast<std::int64_t>(rng.below(32)),
          .peak_gib = rng.uniform(0, 80),
          .energy_j = rng.uniform(0, 1e9),
          .reason = random_text(rng, 20),
          .outcome = static_cast<AttemptOutcome>(rng.below(6))};
}

// Batches as a daemon might write them: `jobs` grows with each, and so does the journal.
inline Batch random_batch(Rng& rng, std::int64_t& jobs, std::int64_t& events, std::int64_t& turns) {
  Batch batch;
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    batch.turns.push_back({++turns, static_cast<std::int64_t>(rng.next() >> 2),
                           rng.below(9) == 0 ? TurnKind::kBegin : TurnKind::kStep,
                           static_cast<std::int64_t>(rng.next()), random_text(rng, 200)});
  }
  const std::int64_t known = jobs;
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    JobRow row;
    row.progress = random_progress(rng, ++jobs);
    row.submitted_us = static_cast<std::int64_t>(rng.next() >> 2);
    row.uid = static_cast<std::int64_t>(rng.below(3000));
    row.gid = row.uid;
    row.name = random_text(rng, 12);
    row.key = random_text(rng, 12);
    row.spec = random_text(rng, 300);
    row.array_job = {static_cast<std::int64_t>(rng.below(3))};
    row.array_index = static_cast<std::int64_t>(rng.below(3));
    batch.new_jobs.push_back(row);
  }
  const auto any_job = [&] {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(known))) + 1;
  };
  for (std::uint64_t i = rng.below(4); known > 0 && i > 0; --i) {
    batch.progress.push_back(random_progress(rng, any_job()));
    batch.attempts.push_back(random_attempt(rng, any_job()));
  }
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    const std::string gpu = "GPU-" + std::to_string(rng.below(3));
    const auto start = static_cast<std::int64_t>(rng.below(8));
    if (rng.below(3) == 0) {
      batch.gone_instances.push_back({gpu, start});
    } else {
      batch.instances.push_back({gpu, start, "2g.10gb", random_text(rng, 9), 1, known});
    }
    const IntentRow intent{rng.below(2) == 0 ? "create" : "launch", gpu, known};
    (rng.below(2) == 0 ? batch.intents : batch.met_intents).push_back(intent);
    batch.gpus.push_back({gpu, static_cast<std::int64_t>(rng.below(2)), 1, "why"});
    batch.peaks.push_back({static_cast<std::int64_t>(rng.below(3)), gpu, rng.uniform(0, 80)});
    batch.totals.push_back({static_cast<std::int64_t>(rng.below(3)), gpu, rng.uniform(0, 80)});
  }
  for (std::uint64_t i = rng.below(5); i > 0; --i) {
    batch.events.push_back({++events,
                            known,
                            {static_cast<std::int64_t>(rng.below(4))},
                            "started",
                            random_text(rng, 40)});
  }
  return batch;
}

}  // namespace partita::store::test
