#include "control/journal/journal_replay.h"

#include <fmt/format.h>

#include <optional>

#include "control/dry_run.h"

namespace partita::control {
namespace {

constexpr std::size_t kRowsAtOnce = 1'000;

// Begins with what was on disk before the first turn; then its own batches go into the scratch
// store, from which the next start reads.
class Replayer {
 public:
  Replayer(store::Store& scratch, const PolicyMaker& make,
           const std::function<void(const ReplayedTurn&)>& see)
      : memory_(scratch), make_(make), see_(see) {}

  Status start_from(const store::Contents& base) { return memory_.commit(as_batch(base)); }
  Status take(const store::TurnRow& row);
  ReplaySummary summary(bool closed) const {
    ReplaySummary summary = summary_;
    summary.closed = closed;
    return summary;
  }

 private:
  static store::Batch as_batch(const store::Contents& contents);
  Status begin(const store::TurnRow& row);
  Status step(const store::TurnRow& row);
  Status shown(const store::TurnRow& row, std::span<const Input> inputs, const Turn& turn,
               bool begins);

  store::Store& memory_;
  const PolicyMaker& make_;
  const std::function<void(const ReplayedTurn&)>& see_;
  Beginning beginning_;
  std::unique_ptr<Controller> controller_;
  InputReader reader_;
  ReplaySummary summary_;
};

// The last event's number is all that is known of those before.
store::Batch Replayer::as_batch(const store::Contents& contents) {
  store::Batch batch;
  batch.new_jobs = contents.jobs;
  batch.attempts = contents.attempts;
  batch.instances = contents.instances;
  batch.intents = contents.intents;
  batch.peaks = contents.peaks;
  batch.totals = contents.totals;
  batch.gpus = contents.gpus;
  if (contents.last_event > 0) batch.events.push_back({contents.last_event, 0, kNoJob, "", ""});
  return batch;
}

Status Replayer::begin(const store::TurnRow& row) {
  Result<Beginning> beginning = decode_beginning(row.inputs);
  if (!beginning) return beginning.error();
  controller_.reset();  // it looks at the model
  beginning_ = *std::move(beginning);
  Result<std::unique_ptr<Controller>> made = make_controller(beginning_, make_);
  if (!made) return made.error();
  controller_ = *std::move(made);
  reader_ = InputReader{};
  ++summary_.starts;
  const Result<store::Contents> contents = memory_.load();
  if (!contents) return contents.error();
  Result<Turn> turn = controller_->restore(Micros{row.at_us}, *contents, beginning_.inventories,
                                           beginning_.attempts);
  if (!turn) return turn.error();
  return shown(row, {}, *turn, true);
}

Status Replayer::step(const store::TurnRow& row) {
  if (!controller_) return Error{"the journal does not begin with a start of the daemon"};
  const Result<std::vector<Input>> inputs = reader_.decode(row.inputs);
  if (!inputs) return inputs.error();
  for (const Input& input : *inputs) {
    const auto gpu = gpu_of(input);
    if (gpu && gpu->value >= beginning_.gpus.size()) return Error{"an input is of no GPU"};
  }
  return shown(row, *inputs, controller_->step(Micros{row.at_us}, *inputs), false);
}

Status Replayer::shown(const store::TurnRow& row, std::span<const Input> inputs, const Turn& turn,
                       bool begins) {
  const bool same = digest_of(turn) == row.digest;
  ++summary_.turns;
  if (summary_.first == 0) summary_.first = row.number;
  summary_.last = row.number;
  if (!same) ++summary_.different;
  see_({row.number, Micros{row.at_us}, begins ? &beginning_ : nullptr, inputs, turn, *controller_,
        same});
  return memory_.commit(turn.batch);
}

Status Replayer::take(const store::TurnRow& row) {
  const Status taken = row.kind == store::TurnKind::kBegin ? begin(row) : step(row);
  if (taken.ok()) return {};
  return Error{fmt::format("turn {} of the journal: {}", row.number, taken.error().message)};
}

Result<std::unique_ptr<Controller>> one_controller(const Beginning& beginning,
                                                   const PolicyMaker& make,
                                                   const Options& options) {
  Result<Policies> policies = make(beginning);
  if (!policies) return policies.error();
  return std::make_unique<Controller>(options, beginning.model, beginning.gpus,
                                      *std::move(policies));
}

}  // namespace

Result<std::unique_ptr<Controller>> make_controller(const Beginning& beginning,
                                                    const PolicyMaker& make) {
  Result<std::unique_ptr<Controller>> made = one_controller(beginning, make, beginning.options);
  if (!made || !beginning.options.shadow) return made;
  Result<std::unique_ptr<Controller>> copy =
      one_controller(beginning, make, DryRun::options_of(beginning.options));
  if (!copy) return copy.error();
  (*made)->rehearse_with(std::make_unique<DryRun>(*std::move(copy)));
  return made;
}

Result<ReplaySummary> replay(store::Store& store, store::Store& scratch, const PolicyMaker& make,
                             const std::function<void(const ReplayedTurn&)>& see) {
  Replayer replayer(scratch, make, see);
  const Result<store::Contents> base = store.journal_base();
  if (!base) return base.error();
  const Status begun = replayer.start_from(*base);
  if (!begun) return begun.error();
  std::int64_t next = 0;
  for (;;) {
    const Result<std::vector<store::TurnRow>> rows = store.turns(next, kRowsAtOnce);
    if (!rows) return rows.error();
    if (rows->empty()) return replayer.summary(false);
    for (const store::TurnRow& row : *rows) {
      if (next != 0 && row.number != next) {
        return Error{fmt::format("turn {} of the journal is missing", next)};
      }
      if (row.kind == store::TurnKind::kClose) return replayer.summary(true);
      const Status taken = replayer.take(row);
      if (!taken) return taken.error();
      next = row.number + 1;
    }
  }
}

}  // namespace partita::control
