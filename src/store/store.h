// Store: the durable state of a daemon, and the one way to change it: a batch, whole or not at all.
//
// Rows are plain records; what a state or a kind means is the business of who writes them. The
// format on disk is described in docs/concepts/live.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace partita::store {

// What changes during the life of a job.
struct JobProgress {
  std::int64_t id = 0;
  std::int64_t state = 0;
  std::int64_t attempt = 0;  // the latest; 0: none yet
  double need_gib = 0;       // of memory, as believed
  std::int64_t changed_us = 0;
  std::string reason;  // why it is in that state

  bool operator==(const JobProgress&) const = default;
};

struct JobRow {
  JobProgress progress;
  std::int64_t submitted_us = 0;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::string name;
  std::string key;   // of the submission; the same key of one owner is the same job
  std::string spec;  // what to run, as the owner of the store writes it

  bool operator==(const JobRow&) const = default;
};

// One start of a job.
struct AttemptRow {
  std::int64_t job = 0;
  std::int64_t number = 0;
  std::int64_t state = 0;
  std::string gpu;       // its UUID
  std::string instance;  // its UUID
  std::string profile;
  std::int64_t start = 0;  // first memory slice
  std::int64_t started_us = 0;
  std::int64_t ended_us = 0;  // 0: not yet
  std::int64_t exit_code = -1;
  std::int64_t signal = 0;
  double peak_gib = 0;
  double energy_j = 0;
  std::string reason;  // of the end

  bool operator==(const AttemptRow&) const = default;
};

// A slice that the daemon made, is making or is unmaking. One row a place.
struct InstanceRow {
  std::string gpu;
  std::int64_t start = 0;
  std::string profile;
  std::string uuid;  // empty while it is being made
  std::int64_t state = 0;
  std::int64_t changed_us = 0;

  bool operator==(const InstanceRow&) const = default;
};

// What is about to be done to the world: written before, removed with the outcome.
struct IntentRow {
  std::string kind;     // "launch", "stop", "create", "destroy"
  std::string subject;  // "12.1" or "GPU-...:4"
  std::int64_t made_us = 0;

  bool operator==(const IntentRow&) const = default;
};

struct EventRow {
  std::int64_t sequence = 0;  // ascending; given by whoever writes it
  std::int64_t at_us = 0;
  std::int64_t job = 0;  // 0: of no job
  std::string kind;
  std::string text;

  bool operator==(const EventRow&) const = default;
};

// The most memory that jobs of a name used, by owner.
struct PeakRow {
  std::int64_t uid = 0;
  std::string name;
  double peak_gib = 0;

  bool operator==(const PeakRow&) const = default;
};

// One turn of the daemon as it was taken, for a replay. Values of the kind are on disk.
enum class TurnKind : std::int64_t {
  kStep = 0,
  kBegin = 1,  // a start of the daemon
  kClose = 2,  // what happened after it was not kept
};
struct TurnRow {
  std::int64_t number = 0;  // ascending without a gap; given by whoever writes it
  std::int64_t at_us = 0;
  TurnKind kind = TurnKind::kStep;
  std::int64_t digest = 0;  // of what came out
  std::string inputs;

  bool operator==(const TurnRow&) const = default;
};

struct Place {
  std::string gpu;
  std::int64_t start = 0;
};

// Everything one turn of the daemon writes.
struct Batch {
  std::vector<JobRow> new_jobs;
  std::vector<JobProgress> progress;
  std::vector<AttemptRow> attempts;  // new or changed
  std::vector<InstanceRow> instances;
  std::vector<Place> gone_instances;
  std::vector<IntentRow> intents;
  std::vector<IntentRow> met_intents;  // by kind and subject
  std::vector<EventRow> events;
  std::vector<PeakRow> peaks;
  std::vector<std::int64_t> forgotten_jobs;  // with their attempts and events
  std::vector<TurnRow> turns;

  bool empty() const;
  void clear();
};

// Everything that is there, events and turns aside.
struct Contents {
  std::vector<JobRow> jobs;  // by id
  std::vector<AttemptRow> attempts;
  std::vector<InstanceRow> instances;
  std::vector<IntentRow> intents;
  std::vector<PeakRow> peaks;
  std::int64_t last_event = 0;

  bool operator==(const Contents&) const = default;
};

class Store {
 public:
  virtual ~Store() = default;

  // Durable when it returns. After an error the store is not used again: what is on disk is the
  // state before the batch or after it, and only opening it anew tells.
  virtual Status commit(const Batch& batch) = 0;

  virtual Result<Contents> load() = 0;
  // In order of sequence, the latest `most` of a job, or of all jobs when `job` is 0.
  virtual Result<std::vector<EventRow>> events(std::int64_t job, std::size_t most) = 0;

  // ---- the journal: turns, and the contents before the first of them

  struct JournalSize {
    std::int64_t last_turn = 0;  // 0: none was ever written
    std::int64_t bytes = 0;      // of inputs
    bool closed = false;         // nothing may follow the last turn
  };
  virtual Result<JournalSize> journal_size() = 0;
  // In order, from the number on.
  virtual Result<std::vector<TurnRow>> turns(std::int64_t from, std::size_t most) = 0;
  virtual Result<Contents> journal_base() = 0;
  // All turns go; what is there now is the base of those that follow, and numbers go on.
  virtual Status begin_journal_anew() = 0;
};

}  // namespace partita::store
