// Store: the durable state of a daemon, and the one way to change it: a batch, whole or not at all.
//
// Rows are plain records that describe themselves (base/record.h): tables and statements, checksums
// and digests follow from what stands here. What a state or a kind means is the business of who
// writes them. Values of enums are on disk. The format there is described in docs/concepts/live.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "base/result.h"

namespace partita::store {

// The table of a kind of row. A row within a row stands in its own table, and its key in this one.
struct Table {
  std::string_view name;
  int keys = 1;       // so many of the first columns say which row it is
  bool once = false;  // written once: a second of that key is an error
};

// Why a job is being stopped to begin again. Digests of turns leave it and outcomes out: older
// journals lack them, and the reason beside them is there.
enum class StopCause : std::int64_t {
  kNone = 0,       // it is not
  kPreempted = 1,  // for another job or another layout, after its checkpoint command
  kMemory = 2,     // it is projected to outgrow its slice
  kDevice = 3,     // its slice or its GPU failed or is gone
  kRequeued = 4,   // somebody asked for it
};

// How an attempt ended.
enum class AttemptOutcome : std::int64_t {
  kNone = 0,    // it has not
  kExited = 1,  // with an exit status or by a signal, and none of the following
  kOutOfMemory = 2,
  kTimeLimit = 3,
  kNotStarted = 4,
  kLost = 5,  // its process or its machine vanished
};

// Who keeps a job from starting.
enum class Held : std::int64_t { kNo = 0, kByOwner = 1, kByAdmin = 2 };

// What changes during the life of a job.
struct JobProgress {
  JobNumber id;
  std::int64_t state = 0;
  std::int64_t attempt = 0;  // the latest; 0: none yet
  double need_gib = 0;       // of memory, as believed
  std::int64_t changed_us = 0;
  std::string reason;  // why it is in that state
  StopCause stop_cause = StopCause::kNone;
  Held held = Held::kNo;
  std::int64_t tries_from = 0;  // attempts up to this one were before somebody had it begin again

  static constexpr Table kTable{"progress"};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "id", row.id, "state", row.state, "attempt", row.attempt, "need_gib",
                row.need_gib, "changed_us", row.changed_us, "reason", row.reason);
    visit(Field{.name = "stop_cause", .encoding = Encoding::kNamed, .digest = false},
          row.stop_cause);
    visit(Field{.name = "held", .encoding = Encoding::kNamed}, row.held);
    visit(Field{.name = "tries_from", .encoding = Encoding::kNamed}, row.tries_from);
  }
  bool operator==(const JobProgress&) const = default;
};

struct JobRow {
  JobProgress progress;
  std::int64_t submitted_us = 0;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::string name;
  std::string key;               // of the submission; the same key of one owner is the same job
  std::string spec;              // what to run, as the owner of the store writes it
  JobNumber array_job;           // the first of its array; kNoJob: it is in none
  std::int64_t array_index = 0;  // from 0

  static constexpr Table kTable{"jobs", 1, true};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "progress", row.progress, "submitted_us", row.submitted_us, "uid", row.uid,
                "gid", row.gid, "name", row.name, "key", row.key, "spec", row.spec);
    // Digests of older journals lack them.
    visit(Field{.name = "array_job", .encoding = Encoding::kNamed, .digest = false}, row.array_job);
    visit(Field{.name = "array_index", .encoding = Encoding::kNamed, .digest = false},
          row.array_index);
  }
  bool operator==(const JobRow&) const = default;
};

// One start of a job.
struct AttemptRow {
  JobNumber job;
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
  AttemptOutcome outcome = AttemptOutcome::kNone;

  static constexpr Table kTable{"attempts", 2};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "job", row.job, "number", row.number, "state", row.state, "gpu", row.gpu,
                "instance", row.instance, "profile", row.profile, "start", row.start, "started_us",
                row.started_us, "ended_us", row.ended_us, "exit_code", row.exit_code, "signal",
                row.signal, "peak_gib", row.peak_gib, "energy_j", row.energy_j, "reason",
                row.reason);
    visit(Field{.name = "outcome", .encoding = Encoding::kNamed, .digest = false}, row.outcome);
  }
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

  static constexpr Table kTable{"instances", 2};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "gpu", row.gpu, "start", row.start, "profile", row.profile, "uuid", row.uuid,
                "state", row.state, "changed_us", row.changed_us);
  }
  bool operator==(const InstanceRow&) const = default;
};

// What is about to be done to the world: written before, removed with the outcome.
struct IntentRow {
  std::string kind;     // "launch", "stop", "create", "destroy"
  std::string subject;  // "12.1" or "GPU-...:4"
  std::int64_t made_us = 0;

  static constexpr Table kTable{"intents", 2};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "kind", row.kind, "subject", row.subject, "made_us", row.made_us);
  }
  bool operator==(const IntentRow&) const = default;
};

struct EventRow {
  std::int64_t sequence = 0;  // ascending; given by whoever writes it
  std::int64_t at_us = 0;
  JobNumber job;  // kNoJob: of none
  std::string kind;
  std::string text;

  static constexpr Table kTable{"events", 1, true};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "sequence", row.sequence, "at_us", row.at_us, "job", row.job, "kind",
                row.kind, "text", row.text);
  }
  bool operator==(const EventRow&) const = default;
};

// The most memory that jobs of a name used, by owner.
struct PeakRow {
  std::int64_t uid = 0;
  std::string name;
  double peak_gib = 0;

  static constexpr Table kTable{"peaks", 2};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "uid", row.uid, "name", row.name, "peak_gib", row.peak_gib);
  }
  bool operator==(const PeakRow&) const = default;
};

// A GPU that an operator drained, or resumed.
struct GpuRow {
  std::string gpu;  // its UUID
  std::int64_t drained = 0;
  std::int64_t changed_us = 0;
  std::string reason;

  static constexpr Table kTable{"gpus"};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "gpu", row.gpu, "drained", row.drained, "changed_us", row.changed_us,
                "reason", row.reason);
  }
  bool operator==(const GpuRow&) const = default;
};

// What was counted since the store was made, by user, in the words of whoever counts.
struct TotalRow {
  std::int64_t uid = 0;
  std::string name;
  double value = 0;

  static constexpr Table kTable{"totals", 2};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "uid", row.uid, "name", row.name, "value", row.value);
  }
  bool operator==(const TotalRow&) const = default;
};

// One turn of the daemon as it was taken, for a replay.
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

  static constexpr Table kTable{"turns", 1, true};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "number", row.number, "at_us", row.at_us, "kind", row.kind, "digest",
                row.digest);
    visit(Field{.name = "inputs", .bytes = true}, row.inputs);
  }
  bool operator==(const TurnRow&) const = default;
};

// Which InstanceRow.
struct Place {
  std::string gpu;
  std::int64_t start = 0;

  static void fields(auto& place, auto&& visit) {
    visit_named(visit, "gpu", place.gpu, "start", place.start);
  }
  bool operator==(const Place&) const = default;
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
  std::vector<GpuRow> gpus;
  std::vector<JobNumber> forgotten_jobs;  // with their attempts and events
  std::vector<TurnRow> turns;
  std::vector<TotalRow> totals = {};

  static void fields(auto& batch, auto&& visit) {
    visit_named(visit, "new_jobs", batch.new_jobs, "progress", batch.progress, "attempts",
                batch.attempts, "instances", batch.instances, "gone_instances",
                batch.gone_instances, "intents", batch.intents, "met_intents", batch.met_intents,
                "events", batch.events, "peaks", batch.peaks, "forgotten_jobs",
                batch.forgotten_jobs);
    visit(Field{.name = "gpus", .encoding = Encoding::kNamed}, batch.gpus);
    visit(Field{.name = "turns", .digest = false}, batch.turns);
    visit(Field{.name = "totals", .digest = false}, batch.totals);  // older journals lack them
  }

  bool empty() const {
    bool empty = true;
    fields(*this, [&](const Field&, const auto& rows) { empty = empty && rows.empty(); });
    return empty;
  }
  void clear() { *this = Batch{}; }
};

// Everything that is there, events and turns aside.
struct Contents {
  std::vector<JobRow> jobs;  // by id
  std::vector<AttemptRow> attempts;
  std::vector<InstanceRow> instances;
  std::vector<IntentRow> intents;
  std::vector<PeakRow> peaks;
  std::int64_t last_event = 0;
  std::vector<GpuRow> gpus;
  std::vector<TotalRow> totals = {};

  bool operator==(const Contents&) const = default;
};

class Store {
 public:
  virtual ~Store() = default;

  // Durable when it returns. After an error for want of space nothing of the batch is there, and it
  // may be tried again. After any other the store is not used again: what is on disk is the state
  // before the batch or after it, and only opening it anew tells.
  virtual Status commit(const Batch& batch) = 0;
  // Whether the last call that failed did so for want of space.
  virtual bool out_of_space() const = 0;
  // Takes so many bytes of the disk for commits to come, so that a disk that others fill does not
  // end them. Again is no harm. An error: there is not so much, or it cannot be done here.
  virtual Status reserve(std::uint64_t bytes) = 0;

  virtual Result<Contents> load() = 0;
  // In order of sequence, the latest `most` of a job, or of all jobs when it is kNoJob.
  virtual Result<std::vector<EventRow>> events(JobNumber job, std::size_t most) = 0;

  // ---- the journal: turns, and the contents before the first of them

  struct JournalSize {
    std::int64_t last_turn = 0;  // 0: none was ever written
    std::int64_t bytes = 0;      // of inputs
    bool closed = false;         // nothing may follow the last turn
    std::int64_t first_us = 0;   // when the first turn that is there was taken; 0: there is none
  };
  virtual Result<JournalSize> journal_size() = 0;
  // In order, from the number on.
  virtual Result<std::vector<TurnRow>> turns(std::int64_t from, std::size_t most) = 0;
  virtual Result<Contents> journal_base() = 0;
  // All turns go; what is there now is the base of those that follow, and numbers go on.
  virtual Status begin_journal_anew() = 0;
};

}  // namespace partita::store
