#include "checker/schedule_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace partita::checker {
namespace {

using Mode = decide::Preemption::Mode;
using sim::LayoutPiece;
using sim::SchedulePiece;

constexpr std::size_t kViolationsMax = 12;
constexpr double kRelative = 1e-9;

std::size_t gpu_of(const SchedulePiece& piece) {
  return piece.slice.value / 8;
}

mig::Placement placement_of(const SchedulePiece& piece) {
  return {piece.profile, static_cast<std::uint8_t>(piece.slice.value % 8)};
}

class Referee {
 public:
  Referee(const workload::Trace& trace, const sim::RunOptions& options,
          const sim::RunResult& result)
      : trace_(trace), options_(options), model_(*options.model), result_(result) {
    pieces_of_job_.resize(trace.jobs.size());
    pieces_of_gpu_.resize(options.gpus);
    layouts_of_gpu_.resize(options.gpus);
  }

  std::vector<std::string> violations(const Expectations& expected) {
    if (!sort_in()) return found_;
    check_layouts();
    for (const SchedulePiece& piece : result_.schedule) check_piece(piece);
    for (std::size_t gpu = 0; gpu < options_.gpus; ++gpu) check_slots(gpu);
    for (std::size_t job = 0; job < trace_.jobs.size(); ++job) check_job(job);
    check_energy();
    check_tardiness();
    if (expected.work_conserving) check_nobody_waits_in_vain();
    return found_;
  }

 private:
  template <typename... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    if (found_.size() < kViolationsMax) {
      found_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
  }
  void compare(const char* what, double given, double recomputed) {
    const double scale = std::max({std::abs(given), std::abs(recomputed), 1e-300});
    if (std::abs(given - recomputed) <= kRelative * scale) return;
    complain("{} is {:.17g}, recomputed {:.17g}", what, given, recomputed);
  }

  bool sort_in();
  void check_layouts();
  void check_piece(const SchedulePiece& piece);
  void check_slots(std::size_t gpu);
  void check_job(std::size_t job);
  void check_work(std::size_t job);
  void check_memory(const SchedulePiece& piece, double before, double done, double time);
  bool free_moves() const { return options_.preemption.mode == Mode::kFree; }
  bool may_interrupt(std::size_t job) const {
    if (options_.preemption.mode == Mode::kPays) return trace_.jobs[job].resumable;
    return options_.preemption.mode != Mode::kNone;
  }
  bool may_interrupt_all() const;
  void check_deadline(std::size_t job);
  std::int64_t changes_suffered(std::size_t job) const;
  void check_energy();
  void check_tardiness();
  void check_nobody_waits_in_vain();
  bool offered_throughout(const SchedulePiece& piece) const;
  bool can_run(std::size_t job, mig::ProfileIndex profile) const;
  std::vector<mig::Placement> idle_at(std::size_t gpu, Micros time) const;

  const workload::Trace& trace_;
  const sim::RunOptions& options_;
  const mig::GpuModel& model_;
  const sim::RunResult& result_;
  std::vector<std::vector<SchedulePiece>> pieces_of_job_;  // by begin
  std::vector<std::vector<SchedulePiece>> pieces_of_gpu_;
  std::vector<std::vector<LayoutPiece>> layouts_of_gpu_;
  std::vector<std::string> found_;
};

bool Referee::sort_in() {
  for (const SchedulePiece& piece : result_.schedule) {
    if (piece.id.value >= trace_.jobs.size() || gpu_of(piece) >= options_.gpus ||
        piece.profile >= model_.profiles.size()) {
      complain("a piece names a job, GPU or profile that is not there");
      return false;
    }
    pieces_of_job_[piece.id.value].push_back(piece);
    pieces_of_gpu_[gpu_of(piece)].push_back(piece);
  }
  for (const LayoutPiece& piece : result_.layouts) {
    if (piece.gpu.value >= options_.gpus) {
      complain("a layout names a GPU that is not there");
      return false;
    }
    layouts_of_gpu_[piece.gpu.value].push_back(piece);
  }
  const auto by_begin = [](const SchedulePiece& a, const SchedulePiece& b) {
    return a.begin < b.begin;
  };
  for (auto& pieces : pieces_of_job_) std::ranges::stable_sort(pieces, by_begin);
  for (auto& pieces : pieces_of_gpu_) std::ranges::stable_sort(pieces, by_begin);
  if (result_.job_records.size() == trace_.jobs.size()) return true;
  complain("{} job records for {} jobs", result_.job_records.size(), trace_.jobs.size());
  return false;
}

// Every instant of every GPU is in exactly one layout, and each is legal.
void Referee::check_layouts() {
  for (std::size_t gpu = 0; gpu < options_.gpus; ++gpu) {
    Micros until;
    for (const LayoutPiece& piece : layouts_of_gpu_[gpu]) {
      if (piece.begin != until || piece.end < piece.begin) {
        complain("layouts of GPU {} have a gap or overlap at {} us", gpu, piece.begin.count);
      }
      until = piece.end;
      mig::Layout rebuilt;
      for (const mig::Placement placement : piece.layout.instances()) {
        if (mig::why_not(model_, rebuilt, placement)) {
          complain("illegal layout on GPU {} at {} us", gpu, piece.begin.count);
          break;
        }
        rebuilt.add(placement);
      }
    }
    if (until != result_.end) complain("layouts of GPU {} end before the run does", gpu);
  }
}

bool Referee::can_run(std::size_t job, mig::ProfileIndex profile) const {
  const mig::Profile& facts = model_.profiles[profile];
  const auto size = workload::slice_size_index(facts.compute_slices);
  return size && trace_.jobs[job].time[*size] != workload::kNoTime &&
         static_cast<double>(trace_.jobs[job].memory_gib) <= facts.memory_gib;
}

bool Referee::offered_throughout(const SchedulePiece& piece) const {
  return std::ranges::all_of(layouts_of_gpu_[gpu_of(piece)], [&](const LayoutPiece& layout) {
    const bool overlaps = layout.begin < piece.end && piece.begin < layout.end;
    return !overlaps || layout.layout.contains(placement_of(piece));
  });
}

void Referee::check_piece(const SchedulePiece& piece) {
  const workload::Job& job = trace_.jobs[piece.id.value];
  const std::string name =
      fmt::format("the piece of job {} from {} us", piece.id.value, piece.begin.count);
  if (piece.begin >= piece.end) complain("{} is empty or ends before it begins", name);
  if (piece.begin < job.arrival) complain("{} begins before the job arrives", name);
  if (piece.end > result_.end) complain("{} ends after the run", name);
  if (!can_run(piece.id.value, piece.profile)) complain("{}: wrong size or memory", name);
  if (!offered_throughout(piece)) complain("{} is not inside a layout that has it", name);
}

void Referee::check_slots(std::size_t gpu) {
  std::vector<SchedulePiece> running;
  for (const SchedulePiece& piece : pieces_of_gpu_[gpu]) {
    std::erase_if(running, [&](const SchedulePiece& other) { return other.end <= piece.begin; });
    const std::uint8_t mask = mig::memory_mask(model_, placement_of(piece));
    for (const SchedulePiece& other : running) {
      if ((mask & mig::memory_mask(model_, placement_of(other))) == 0) continue;
      complain("jobs {} and {} share memory slices of GPU {} at {} us", other.id.value,
               piece.id.value, gpu, piece.begin.count);
    }
    running.push_back(piece);
  }
}

void Referee::check_job(std::size_t index) {
  const std::vector<SchedulePiece>& pieces = pieces_of_job_[index];
  const sim::JobRecord& record = result_.job_records[index];
  if (pieces.empty()) return complain("job {} never runs", index);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].begin < pieces[i - 1].end) complain("job {} is in two places at once", index);
  }
  if (record.id.value != index) complain("record {} has another job's id", index);
  if (record.first_start != pieces.front().begin) complain("job {}: first start", index);
  if (record.completion != pieces.back().end) complain("job {}: completion", index);
  // More interruptions than cuts: when two decisions fall on one instant, a stay of no length is
  // not written down.
  if (record.preemptions + record.restarts + 1 < pieces.size()) {
    complain("job {}: count of preemptions", index);
  }
  const auto lost = std::ranges::count_if(pieces, &SchedulePiece::lost);
  if (lost != record.restarts) complain("job {}: count of restarts", index);
  if (!may_interrupt(index) && (pieces.size() != 1 + record.restarts || record.preemptions > 0)) {
    complain("job {} is interrupted although the run forbids it", index);
  }
  check_work(index);
  check_deadline(index);
}

// Since the job last lost its work the fractions done add up to one; only the last piece is
// rounded, up to a whole microsecond. Nowhere does it hold more memory than its slice has.
void Referee::check_work(std::size_t index) {
  const std::vector<SchedulePiece>& pieces = pieces_of_job_[index];
  double done = 0;
  double last_time = 0;
  Micros unpaid;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto size = workload::slice_size_index(model_.profiles[pieces[i].profile].compute_slices);
    if (!size) return;
    // A free move to a slice of the same size goes on with the restart; a stop and a start at one
    // instant begin it anew; the pieces look the same.
    if (free_moves() && unpaid > Micros{} && i > 0 && !pieces[i - 1].lost) return;
    last_time = static_cast<double>(trace_.jobs[index].time[*size].count);
    const Micros length = pieces[i].end - pieces[i].begin;
    const bool interrupted = i > 0 && !pieces[i - 1].lost;
    const bool at_a_cost = !free_moves() && interrupted;
    const Micros overhead = std::max(unpaid, at_a_cost ? options_.preemption.cost : Micros{});
    const double before = done;
    if (length >= overhead) {
      done += static_cast<double>((length - overhead).count) / last_time;
      unpaid = Micros{};
    }
    check_memory(pieces[i], before, done, last_time);
    if (!pieces[i].lost) continue;
    done = 0;
    unpaid = options_.memory.restart;
  }
  constexpr double kFloating = 1e-9;
  if (done < 1 - kFloating || done > 1 + 1 / last_time + kFloating) {
    complain("job {} does {:.12g} of its work", index, done);
  }
}

// It leaves in the microsecond in which it would hold more; at once when it comes with more.
void Referee::check_memory(const SchedulePiece& piece, double before, double done, double time) {
  if (trace_.memory_curves.empty() || !trace_.memory_curves[piece.id.value].grows()) return;
  const workload::MemoryCurve& curve = trace_.memory_curves[piece.id.value];
  const double slice = model_.profiles[piece.profile].memory_gib;
  constexpr double kFloating = 1e-9;
  const double within = std::max(before, done - 1 / time - kFloating);
  if (curve.at(std::min(1.0, within)) <= slice) return;
  if (done - before <= 1 / time + kFloating) return;
  complain("job {} holds too much for {} GiB before {} us", piece.id.value, slice, piece.end.count);
}

// With the papers' cost a job loses 4 s for every change of the GPU it runs on. Where all jobs may
// be interrupted a change is made when it is requested, so the layouts tell; else only a bound is
// known.
void Referee::check_deadline(std::size_t index) {
  const std::int64_t lost =
      (trace_.jobs[index].deadline - result_.job_records[index].deadline).count;
  const std::int64_t penalty = sim::kPaperRepartitionPenalty.count;
  const bool paper = options_.repartition_cost == sim::RepartitionCost::kPaper;
  const bool exact = !paper || may_interrupt_all();
  const std::int64_t most = exact ? (paper ? changes_suffered(index) : 0)
                                  : static_cast<std::int64_t>(result_.repartitions);
  const bool wrong = lost < 0 || lost > most * penalty || (exact && lost != most * penalty);
  if (wrong || lost % penalty != 0) complain("job {} loses {} us of deadline", index, lost);
}

bool Referee::may_interrupt_all() const {
  for (std::size_t job = 0; job < trace_.jobs.size(); ++job) {
    if (!may_interrupt(job)) return false;
  }
  return true;
}

std::int64_t Referee::changes_suffered(std::size_t index) const {
  std::int64_t changes = 0;
  const std::vector<SchedulePiece>& pieces = pieces_of_job_[index];
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool completes = i + 1 == pieces.size();
    for (const LayoutPiece& layout : layouts_of_gpu_[gpu_of(pieces[i])]) {
      const Micros at = layout.begin;
      // A completion comes before a change at the same instant, a move or a stop after it.
      const bool until = completes ? at < pieces[i].end : at <= pieces[i].end;
      changes += pieces[i].begin < at && until ? 1 : 0;
    }
  }
  return changes;
}

void Referee::check_energy() {
  std::array<std::int64_t, 9> micros_at_level{};
  std::int64_t compute = 0;
  std::int64_t memory = 0;
  for (std::size_t gpu = 0; gpu < options_.gpus; ++gpu) {
    std::map<Micros, int> changes;  // of busy compute slices
    for (const SchedulePiece& piece : pieces_of_gpu_[gpu]) {
      const mig::Profile& profile = model_.profiles[piece.profile];
      const std::int64_t length = (piece.end - piece.begin).count;
      changes[piece.begin] += profile.compute_slices;
      changes[piece.end] -= profile.compute_slices;
      compute += length * profile.compute_slices;
      memory += length * profile.memory_slices;
    }
    changes[result_.end] += 0;
    Micros since;
    int busy = 0;
    for (const auto& [time, change] : changes) {
      micros_at_level[static_cast<std::size_t>(busy)] += (time - since).count;
      since = time;
      busy += change;
      if (busy < 0 || busy > model_.compute_slices) return complain("GPU {} overfull", gpu);
    }
  }
  double joules = 0;
  for (std::size_t level = 0; level < options_.power->watts.size(); ++level) {
    joules += options_.power->watts[level] * static_cast<double>(micros_at_level[level]) / 1e6;
  }
  compare("energy_j", result_.energy_j, joules);
  const double span = static_cast<double>(result_.end.count) * options_.gpus;
  if (span == 0) return;
  compare("compute utilisation", result_.compute_utilisation,
          static_cast<double>(compute) / (span * model_.compute_slices));
  compare("memory utilisation", result_.memory_utilisation,
          static_cast<double>(memory) / (span * model_.memory_slices));
}

// Nearest rank: the smallest value that at least `percent` of a hundred do not exceed.
double quantile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  const std::size_t rank = (percent * sorted.size() + 99) / 100;
  return static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]) / 1e6;
}

void Referee::check_tardiness() {
  std::vector<std::int64_t> tardiness;
  Micros last;
  std::int64_t wait = 0;
  for (std::size_t i = 0; i < trace_.jobs.size(); ++i) {
    if (pieces_of_job_[i].empty()) return;
    const Micros completion = pieces_of_job_[i].back().end;
    const Micros late = completion - result_.job_records[i].deadline;
    tardiness.push_back(std::max<std::int64_t>(0, late.count));
    wait += (pieces_of_job_[i].front().begin - trace_.jobs[i].arrival).count;
    last = std::max(last, completion);
  }
  if (result_.end != std::max(last, options_.horizon)) complain("the run ends at another time");
  if (result_.jobs != trace_.jobs.size()) complain("{} jobs counted", result_.jobs);
  if (tardiness.empty()) return;
  std::ranges::sort(tardiness);
  std::int64_t sum = 0;
  for (const std::int64_t each : tardiness) sum += each;
  const auto late = std::ranges::count_if(tardiness, [](std::int64_t each) { return each > 0; });
  const auto count = static_cast<double>(tardiness.size());
  const double mean = static_cast<double>(sum) / 1e6 / count;
  compare("mean tardiness", result_.mean_tardiness_s, mean);
  compare("median tardiness", result_.p50_tardiness_s, quantile(tardiness, 50));
  compare("p95 tardiness", result_.p95_tardiness_s, quantile(tardiness, 95));
  compare("p99 tardiness", result_.p99_tardiness_s, quantile(tardiness, 99));
  compare("max tardiness", result_.max_tardiness_s, static_cast<double>(tardiness.back()) / 1e6);
  compare("late jobs", static_cast<double>(result_.late_jobs), static_cast<double>(late));
  compare("mean wait", result_.mean_wait_s, static_cast<double>(wait) / 1e6 / count);
  const double et = (options_.et_a * result_.energy_j / 60 + mean / 60) / (options_.et_a + 1);
  compare("et", result_.et, et);
}

std::vector<mig::Placement> Referee::idle_at(std::size_t gpu, Micros time) const {
  std::vector<mig::Placement> idle;
  for (const LayoutPiece& layout : layouts_of_gpu_[gpu]) {
    if (layout.begin > time || layout.end <= time) continue;
    idle.assign(layout.layout.instances().begin(), layout.layout.instances().end());
  }
  for (const SchedulePiece& piece : pieces_of_gpu_[gpu]) {
    if (piece.begin <= time && time < piece.end) std::erase(idle, placement_of(piece));
  }
  return idle;
}

// Looks at every instant at which something began, ended or arrived: in between nothing changes.
void Referee::check_nobody_waits_in_vain() {
  std::vector<Micros> instants;
  for (const workload::Job& job : trace_.jobs) instants.push_back(job.arrival);
  for (const SchedulePiece& piece : result_.schedule) instants.push_back(piece.end);
  std::ranges::sort(instants);
  const auto rest = std::ranges::unique(instants);
  instants.erase(rest.begin(), rest.end());
  for (const Micros time : instants) {
    std::vector<mig::Placement> idle;
    for (std::size_t gpu = 0; gpu < options_.gpus; ++gpu) {
      for (const mig::Placement placement : idle_at(gpu, time)) idle.push_back(placement);
    }
    for (std::size_t job = 0; job < trace_.jobs.size() && !idle.empty(); ++job) {
      const bool present =
          trace_.jobs[job].arrival <= time && time < result_.job_records[job].completion;
      const bool runs = std::ranges::any_of(pieces_of_job_[job], [&](const SchedulePiece& piece) {
        return piece.begin <= time && time < piece.end;
      });
      // What a job that lost its work needs now is more than it asked for.
      if (!present || runs || result_.job_records[job].restarts > 0) continue;
      const bool in_vain = std::ranges::any_of(
          idle, [&](mig::Placement placement) { return can_run(job, placement.profile); });
      if (in_vain) complain("job {} waits at {} us though a slice is idle", job, time.count);
    }
  }
}

}  // namespace

std::vector<std::string> violations(const workload::Trace& trace, const sim::RunOptions& options,
                                    const sim::RunResult& result, const Expectations& expected) {
  return Referee(trace, options, result).violations(expected);
}

}  // namespace partita::checker
