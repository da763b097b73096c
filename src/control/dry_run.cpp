#include "control/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

#include "base/check.h"

namespace partita::control {
namespace {

constexpr const char* kKind = "shadow";
// In one turn of the daemon; what is left is done in the next, so that nobody waits for it.
constexpr int kTurnsMax = 1'000;

// "1h 12m", "3.2 s".
std::string span_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string place_text(const Fleet& fleet, cluster::SliceId slice) {
  const mig::Placement placement{fleet.cluster().slice(slice).profile, cluster::start_of(slice)};
  return fmt::format("GPU {} {}", cluster::gpu_of(slice).value,
                     mig::format_placement(fleet.model(), placement));
}

}  // namespace

DryRun::DryRun(std::unique_ptr<Controller> copy) : copy_(std::move(copy)) {
  CHECK(copy_ != nullptr && !copy_->options().shadow);
}

DryRun::~DryRun() = default;

Options DryRun::options_of(Options options) {
  constexpr std::size_t kNoMost = std::numeric_limits<std::size_t>::max();
  options.shadow = false;
  options.quotas = {};  // it takes every job that was taken
  options.limits.queue_jobs_max = kNoMost;
  options.limits.queue_jobs_per_user_max = kNoMost;
  return options;
}

Status DryRun::begin(Micros now, const store::Contents& contents,
                     std::span<const Inventory> inventories,
                     std::span<const launch::Report> attempts, TurnBook& log) {
  Result<Turn> turn = copy_->restore(now, contents, inventories, attempts);
  if (!turn) return turn.error();
  if (!copy_->jobs().empty()) last_job_ = copy_->jobs().rbegin()->first;
  now_ = began_ = now;
  for (const Effect& effect : turn->effects) carry_out(effect, log);
  return {};
}

Micros DryRun::next_wake() const {
  if (!trouble_.empty()) return Micros::max();
  const Micros planned = planned_.empty() ? Micros::max() : planned_.begin()->first;
  return std::min(planned, copy_->next_wake().value_or(Micros::max()));
}

// What GPUs say of slices is about those that are there, and the copy has others.
bool DryRun::is_wanted(const Input& input, std::span<const Reply> taken) {
  if (std::holds_alternative<Reading>(input) || std::holds_alternative<Inventory>(input) ||
      std::holds_alternative<CreateDone>(input) || std::holds_alternative<DestroyDone>(input) ||
      std::holds_alternative<SliceFault>(input) || std::holds_alternative<Remark>(input)) {
    return false;
  }
  const auto* submit = std::get_if<Submit>(&input);
  if (submit == nullptr) return true;
  const auto reply = std::ranges::find(taken, submit->ticket, &Reply::ticket);
  const bool accepted = reply != taken.end() && reply->kind == Reply::Kind::kAccepted;
  // The same key again: those jobs are there already.
  if (!accepted || reply->jobs.empty() || reply->jobs.front() <= last_job_) return false;
  last_job_ = reply->jobs.back();
  return true;
}

void DryRun::step(Micros now, std::span<const Input> inputs, std::span<const Reply> taken,
                  TurnBook& log) {
  if (!trouble_.empty()) return;
  catch_up(now, log);
  std::vector<Input> wanted;
  for (const Input& input : inputs) {
    if (is_wanted(input, taken)) wanted.push_back(input);
  }
  const std::vector<Reply> replies =
      wanted.empty() ? std::vector<Reply>() : take_turn(std::max(now, now_), wanted, log);
  catch_up(now, log);
  // A job is the same in both, or nothing that is said of it would be true.
  const bool same = std::ranges::all_of(replies, [&](const Reply& reply) {
    const auto first = std::ranges::find(taken, reply.ticket, &Reply::ticket);
    return reply.kind != Reply::Kind::kAccepted || first == taken.end() ||
           first->jobs == reply.jobs;
  });
  if (same) return;
  trouble_ = "its jobs have other numbers";
  log.event(kNoJob, kKind, "the dry run is over: " + trouble_);
}

// Everything that is due by then, in the order of time.
void DryRun::catch_up(Micros now, TurnBook& log) {
  for (int i = 0; i < kTurnsMax; ++i) {
    const Micros next = std::max(next_wake(), now_);
    if (next_wake() > now) return;
    std::vector<Input> due;
    while (!planned_.empty() && planned_.begin()->first <= next) {
      due.push_back(std::move(planned_.extract(planned_.begin()).mapped()));
    }
    // A job whose end was planned and that has been stopped since ended otherwise.
    std::erase_if(due, [&](const Input& input) {
      const auto* report = std::get_if<launch::Report>(&input);
      if (report == nullptr || report->kind != launch::Report::Kind::kEnded) return false;
      const auto end = ends_.find(report->key);
      if (end == ends_.end() || end->second != report->at) return true;
      ends_.erase(end);
      return false;
    });
    take_turn(next, due, log);
  }
}

std::vector<Reply> DryRun::take_turn(Micros at, std::span<const Input> inputs, TurnBook& log) {
  count_energy(at);
  now_ = std::max(now_, at);
  Turn turn = copy_->step(now_, inputs);
  for (const store::EventRow& event : turn.batch.events) {
    if (event.kind == "guard") log.event(kNoJob, event.kind, event.text);
  }
  for (const Effect& effect : turn.effects) carry_out(effect, log);
  return std::move(turn.replies);
}

void DryRun::carry_out(const Effect& effect, TurnBook& log) {
  if (const auto* each = std::get_if<Launch>(&effect)) return launch(*each, log);
  if (const auto* each = std::get_if<Stop>(&effect)) return stop(*each, log);
  if (const auto* each = std::get_if<Create>(&effect)) {
    return change(each->gpu, each->placement, true, log);
  }
  if (const auto* each = std::get_if<Destroy>(&effect)) {
    return change(each->gpu, each->placement, false, log);
  }
}

void DryRun::launch(const Launch& launch, TurnBook& log) {
  ++starts_;
  const launch::AttemptKey key = launch.start.key;
  const Job* job = copy_->find(key.job);
  CHECK(job != nullptr);
  const decide::ActiveJob& active = copy_->active(*job);
  const Micros end = std::max(now_ + Micros{1}, active.finish);
  log.event(
      key.job, kKind,
      fmt::format("would start on {}, to be done in {}", place_text(copy_->fleet(), active.slice),
                  span_text((end - now_).to_seconds())));
  launch::Report began;
  began.kind = launch::Report::Kind::kStarted;
  began.key = key;
  began.at = now_;
  plan(now_, began);
  plan_end(key, end, 0);
}

// What saves its work and stops takes no time of its own here: policies count the cost of a
// restart when it begins again.
void DryRun::stop(const Stop& stop, TurnBook& log) {
  ++stops_;
  log.event(stop.key.job, kKind,
            fmt::format("would be stopped{}", stop.checkpoint ? ", its work saved first" : ""));
  plan_end(stop.key, now_, SIGTERM);
}

void DryRun::change(GpuId gpu, mig::Placement placement, bool create, TurnBook& log) {
  const mig::GpuModel& model = copy_->fleet().model();
  const mig::ChangeSeconds& seconds = model.change_seconds[placement.profile];
  const double takes = create ? seconds.create : seconds.destroy;
  change_s_ += takes;
  ++(create ? created_ : destroyed_);
  log.event(
      kNoJob, kKind,
      fmt::format("would cut GPU {}: {} {}, in {:.2f} s", gpu.value, create ? "create" : "destroy",
                  mig::format_placement(model, placement), takes));
  const Micros at = now_ + micros_from_seconds(takes);
  if (!create) return plan(at, DestroyDone{gpu, placement, true, {}});
  device::Instance instance;
  instance.key = {copy_->fleet().gpus()[gpu.value].device, static_cast<std::uint32_t>(instances_),
                  fmt::format("dry-run-{}", ++instances_)};
  instance.placement = placement;
  plan(at, CreateDone{gpu, placement, instance, {}});
}

void DryRun::plan(Micros at, Input input) {
  planned_.emplace(at, std::move(input));
}

void DryRun::plan_end(launch::AttemptKey key, Micros at, int signal) {
  ends_[key] = at;
  launch::Report ended;
  ended.kind = launch::Report::Kind::kEnded;
  ended.key = key;
  ended.at = at;
  ended.exit_code = signal == 0 ? 0 : -1;
  ended.signal = signal;
  plan(at, ended);
}

double DryRun::watts_now() const {
  const cluster::ClusterState& cluster = copy_->fleet().cluster();
  const mig::GpuModel& model = copy_->fleet().model();
  const std::vector<double>& watts = model.power_curves.front().watts;
  double sum = 0;
  for (std::uint32_t i = 0; i < cluster.gpus.size(); ++i) {
    std::size_t busy = 0;
    for (const mig::Placement placement : cluster.gpus[i].layout.instances()) {
      const bool job = copy_->job_on(cluster::slice_id(GpuId{i}, placement.start)) != nullptr;
      if (job) busy += static_cast<std::size_t>(model.profiles[placement.profile].compute_slices);
    }
    sum += watts[std::min(busy, watts.size() - 1)];
  }
  return sum;
}

void DryRun::count_energy(Micros until) {
  if (until > now_) energy_j_ += watts_now() * (until - now_).to_seconds();
}

std::string DryRun::summary(Micros now) const {
  std::uint64_t with_deadline = 0;
  std::uint64_t late = 0;
  double tardy_s = 0;
  double wait_s = 0;
  std::uint64_t began = 0;
  for (const auto& [id, job] : copy_->jobs()) {
    if (!job.attempts.empty()) {
      ++began;
      wait_s += Micros{job.attempts.front().started_us - job.submitted.count}.to_seconds();
    }
    if (!job.spec.deadline) continue;
    ++with_deadline;
    const Micros end = has_ended(job.state()) ? Micros{job.progress.changed_us} : now;
    const double over = (end - *job.spec.deadline).to_seconds();
    if (over > 0) ++late;
    tardy_s += std::max(0.0, over);
  }
  const double energy = energy_j_ + (now > now_ ? watts_now() * (now - now_).to_seconds() : 0);
  std::string text = fmt::format(
      "in {} it would have made {} starts and {} stops, created {} and destroyed {} slices ({:.1f} "
      "s), and used {:.0f} J; {} jobs done, {} running, {} waiting",
      span_text((now - began_).to_seconds()), starts_, stops_, created_, destroyed_, change_s_,
      energy, copy_->count(JobState::kDone),
      copy_->count(JobState::kRunning) + copy_->count(JobState::kStarting),
      copy_->count(JobState::kQueued));
  if (began > 0) {
    text += fmt::format("; mean wait {}", span_text(wait_s / static_cast<double>(began)));
  }
  if (with_deadline > 0) {
    text +=
        fmt::format("; mean tardiness {}, {} of {} late",
                    span_text(tardy_s / static_cast<double>(with_deadline)), late, with_deadline);
  }
  return text;
}

}  // namespace partita::control
