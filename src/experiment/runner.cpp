#include "experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/check.h"
#include "base/parallel.h"
#include "experiment/definition.h"
#include "experiment/results/result_file.h"

namespace partita::experiment {
namespace {

using Records = std::map<RunKey, RunRecord>;

Status all_different(const std::vector<Task>& tasks) {
  std::set<RunKey> seen;
  for (const Task& task : tasks) {
    if (!seen.insert(task.key).second) {
      return Error{fmt::format("the run {} is asked for twice", task.key.text())};
    }
  }
  return {};
}

// Whether runs that are there may be gone on from. `stored` is what read_definition gave.
Status same_definition(const std::optional<std::string>& stored, const RunnerOptions& options) {
  if (!stored) {
    return Error{
        fmt::format("{} holds runs, but {} is missing, which says of what: --restart throws them "
                    "away, --out-dir keeps the new ones elsewhere",
                    options.path, definition_path(options.path))};
  }
  if (*stored == options.definition) return {};
  return Error{fmt::format(
      "{} holds runs of another definition (fingerprint {}, this one has {}): --restart throws "
      "them away, --out-dir keeps the new ones elsewhere",
      options.path, fingerprint(*stored), fingerprint(options.definition))};
}

// The runs to go on from. The definition is on disk before the first run is.
Result<Records> begin_file(ResultWriter& writer, const RunnerOptions& options) {
  if (options.existing == Existing::kDiscard) {
    if (const Status cleared = writer.clear(); !cleared) return cleared.error();
  }
  Result<std::vector<RunRecord>> found = read_results(options.path);
  if (!found) return found.error();
  Records records;
  if (found->empty()) {
    const Status written = write_definition(options.path, options.definition);
    if (!written) return written.error();
    return records;
  }
  const Result<std::optional<std::string>> stored = read_definition(options.path);
  if (!stored) return stored.error();
  if (const Status same = same_definition(*stored, options); !same) return same.error();
  for (RunRecord& record : *found) records.emplace(record.key(), std::move(record));
  return records;
}

// What the worker threads share.
class Work {
 public:
  Work(std::vector<const Task*> tasks, Records& records, ResultWriter& writer, std::size_t total,
       const RunnerOptions& options)
      : tasks_(std::move(tasks)),
        records_(records),
        writer_(writer),
        options_(options),
        progress_{total - tasks_.size(), total, total - tasks_.size(), std::nullopt} {
    if (options_.seconds_now) began_s_ = options_.seconds_now();
    if (options_.progress) options_.progress(progress_);
  }

  // Runs the tasks, up to the first that fails. Gives the error of the first in their order.
  std::optional<Error> run(std::size_t threads) {
    const auto run_one = [this](std::size_t index, std::size_t) {
      Result<RunRecord> record = tasks_[index]->run();
      const std::lock_guard lock(mutex_);
      finish(index, std::move(record));
    };
    for_each_index(tasks_.size(), threads, run_one, [this] { return stopped(); });
    return error_;
  }

 private:
  bool stopped() const { return failed_.load() || (options_.cancel && options_.cancel->load()); }

  // REQUIRES: mutex_ held.
  void finish(std::size_t index, Result<RunRecord> record) {
    const RunKey& key = tasks_[index]->key;
    if (!record) return fail(index, {fmt::format("{}: {}", key.text(), record.error().message)});
    CHECK(record->key() == key);
    if (const Status kept = writer_.append(*record); !kept) return fail(index, kept.error());
    records_.emplace(key, std::move(*record));
    ++progress_.done;
    if (options_.seconds_now) {
      const double elapsed_s = options_.seconds_now() - began_s_;
      progress_.seconds_left = elapsed_s / static_cast<double>(progress_.done - progress_.found) *
                               static_cast<double>(progress_.total - progress_.done);
    }
    if (options_.progress) options_.progress(progress_);
  }

  void fail(std::size_t index, Error error) {
    if (!error_ || index < error_index_) {
      error_ = std::move(error);
      error_index_ = index;
    }
    failed_.store(true);
  }

  const std::vector<const Task*> tasks_;
  Records& records_;      // guarded by mutex_
  ResultWriter& writer_;  // guarded by mutex_
  const RunnerOptions& options_;
  Progress progress_;  // guarded by mutex_
  double began_s_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_
  std::size_t error_index_ = 0;
};

// Moves the tasks' records out, in order of keys.
std::vector<RunRecord> taken_of(const std::vector<Task>& tasks, Records& records) {
  std::vector<RunRecord> taken;
  for (const Task& task : tasks) {
    const auto found = records.find(task.key);
    if (found != records.end()) taken.push_back(std::move(found->second));
  }
  std::ranges::sort(taken, {}, &RunRecord::key);
  return taken;
}

}  // namespace

Result<Outcome> run_tasks(const std::vector<Task>& tasks, const RunnerOptions& options) {
  if (const Status different = all_different(tasks); !different) return different.error();
  const Result<std::unique_ptr<ResultWriter>> writer = ResultWriter::open(options.path);
  if (!writer) return writer.error();
  Result<Records> records = begin_file(**writer, options);
  if (!records) return records.error();

  std::vector<const Task*> missing;
  for (const Task& task : tasks) {
    if (!records->contains(task.key)) missing.push_back(&task);
  }
  const std::size_t threads = options.threads == 0 ? default_threads() : options.threads;
  Work work(std::move(missing), *records, **writer, tasks.size(), options);
  if (const auto failed = work.run(threads)) return *failed;

  Outcome outcome;
  outcome.records = taken_of(tasks, *records);
  outcome.cancelled = outcome.records.size() < tasks.size();
  if (outcome.cancelled || options.ending == Ending::kRound) return outcome;
  const Status written = write_results(options.path, outcome.records);
  if (!written) return written.error();
  return outcome;
}

}  // namespace partita::experiment
