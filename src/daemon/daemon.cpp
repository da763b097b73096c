#include "daemon/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>

#include "api/service.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "control/dry_run.h"
#include "control/journal/journal_replay.h"
#include "control/journal/recorder.h"
#include "daemon/accounts.h"
#include "daemon/device_nodes.h"
#include "daemon/device_workers.h"
#include "daemon/disk_space.h"
#include "daemon/job_environment.h"
#include "daemon/policy_pair.h"
#include "daemon/served_gpus.h"
#include "daemon/server.h"
#include "daemon/service_manager.h"
#include "daemon/token_authenticator.h"
#include "device/open.h"
#include "launch/local.h"
#include "store/sqlite_store.h"

namespace partita::daemon {
namespace {

constexpr Micros kWaitMax = Micros::seconds(1);
// A turn that the disk has no space for is tried again so often.
constexpr Micros kCommitRetry = Micros{500'000};
// GPUs are read so often while the disk is full: each reading takes some of what is left.
constexpr Micros kWatchOnFullDisk = Micros::seconds(30);
constexpr Micros kOutputSweep = Micros::seconds(60);
constexpr int kDriverRetryMs = 2'000;
constexpr std::chrono::milliseconds kLeaveTime{2'000};

// What is shown in place of output that is no more; of a job that never ran there was none.
std::string why_no_output(const control::Job* job) {
  const bool ran = job != nullptr && control::has_ended(job->state()) &&
                   std::ranges::any_of(job->attempts, [](const store::AttemptRow& attempt) {
                     return attempt.exit_code >= 0 || attempt.signal != 0;
                   });
  return ran ? "[partita: the output is no longer kept: it was too old or there was too much]\n"
             : "";
}

class Daemon {
 public:
  Daemon(const Settings& settings, void (*say)(const std::string&))
      : settings_(settings),
        say_(say),
        clock_(real_clock()),
        manager_(settings.notify_socket, settings.watchdog),
        accounts_(real_clock()),
        submissions_(settings.limits.submissions),
        space_(
            settings.state, settings.limits.disk_floor,
            [&settings] { return figures_of(settings.state); },
            [this] { return launcher_ == nullptr || launcher_->files().can_write(); }) {}

  Status begin();
  Status run();

 private:
  Status open_devices();
  device::Answer<std::vector<device::GpuInfo>> wait_for_driver();
  Status open_controller();
  Status open_launcher();
  Status restore();
  Status open_journal();
  void open_server();
  Status take_turn();
  Status finish(control::Turn turn);
  void wait_for_space(control::Turn turn, const std::string& why);
  void announce(const control::Turn& turn);
  void tell_storage();
  void reserve_log();
  void keep_output(const store::Batch& batch);
  std::optional<Micros> end_of(JobNumber job) const;
  void perform(const control::Effect& effect);
  void launch(const control::Launch& launch);
  launch::DeviceRules rules_for(const device::InstanceKey& instance);
  std::optional<api::Response> handle(const api::Request& request, const api::Caller& caller,
                                      control::Ticket ticket);
  std::string read_output(JobNumber job, std::uint64_t offset, std::size_t most) const;
  Micros time_to_wait();
  void watch_signals();
  void leave();

  const Settings& settings_;
  void (*say_)(const std::string&);
  Clock& clock_;
  ServiceManager manager_;
  Accounts accounts_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<device::Backend> backend_;
  std::vector<device::GpuInfo> gpus_;
  std::unique_ptr<launch::LocalLauncher> launcher_;
  control::Beginning beginning_;  // the controller looks at its model
  std::unique_ptr<control::Controller> controller_;
  std::unique_ptr<control::Recorder> recorder_;
  api::SubmissionRate submissions_;
  api::Surroundings around_;
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<TokenAuthenticator> authenticator_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<DeviceWorkers> workers_;
  std::vector<control::Input> inputs_;
  int signals_ = -1;
  bool stop_ = false;
  bool rules_work_ = false;
  bool said_no_rules_ = false;
  Micros watched_at_;
  DiskSpace space_;
  bool told_space_ = true;                  // the controller
  std::optional<control::Turn> unwritten_;  // the disk has no space for it
  Micros tried_at_;
  std::unique_ptr<OutputKeeper> output_;
  Micros swept_at_;
  Status trouble_;
};

Status Daemon::open_devices() {
  auto backend = device::open_backend(with_state_file(settings_), clock_);
  if (!backend) return backend.error();
  backend_ = *std::move(backend);
  const device::Answer<std::vector<device::GpuInfo>> gpus = wait_for_driver();
  if (!gpus) {
    const char* other = gpus.fault() == device::Fault::kDriverGone
                            ? "; --backend simulated:2xa100-40gb works without a GPU"
                            : "";
    return Error{gpus.error().message + other};
  }
  auto served = served_gpus(*gpus, say_);
  if (!served) return served.error();
  gpus_ = *std::move(served);
  return {};
}

// A driver that is not loaded, or that is being upgraded, comes back.
device::Answer<std::vector<device::GpuInfo>> Daemon::wait_for_driver() {
  for (bool told = false;; told = true) {
    auto gpus = backend_->gpus();
    const bool may_come = !gpus.ok() && (gpus.fault() == device::Fault::kDriverGone ||
                                         gpus.fault() == device::Fault::kVersionMismatch);
    if (!may_come) return gpus;
    if (!settings_.waits_for_driver) return gpus;
    if (!told) {
      say_(fmt::format("{}; waiting for it", gpus.error().message));
      manager_.status("waiting for the driver: " + gpus.error().message);
    }
    pollfd stop{signals_, POLLIN, 0};
    if (::poll(&stop, 1, kDriverRetryMs) > 0) return gpus;
  }
}

Status Daemon::open_controller() {
  const mig::GpuModel& model = *gpus_.front().model;
  beginning_.version = settings_.version;
  beginning_.policy = with_absolute_files(settings_.policy, settings_.seed);
  beginning_.seed = settings_.seed;
  beginning_.options.shadow = settings_.shadow;
  beginning_.options.limits.queue_jobs_per_user_max = settings_.limits.jobs_per_user;
  beginning_.options.limits.finished_jobs_kept_max = settings_.limits.jobs_kept;
  beginning_.options.limits.time_limit_max = settings_.limits.time_limit_max;
  if (!settings_.early_restart) beginning_.options.early_restart.reset();
  beginning_.options.preempt_after = settings_.preempt_after;
  beginning_.options.preemption = settings_.preemption;
  auto queue = with_uids(settings_.queue);
  if (!queue) return queue.error();
  beginning_.options.queue = *std::move(queue);
  beginning_.options.quotas = settings_.quotas;
  beginning_.model = model;
  for (const device::GpuInfo& gpu : gpus_) {
    beginning_.gpus.push_back({gpu.uuid, gpu.name, gpu.id});
  }
  auto made = control::make_controller(beginning_, make_policies);
  if (!made) return made.error();
  controller_ = *std::move(made);
  const std::string doubt = doubt_about(settings_.policy);
  if (!doubt.empty()) say_(doubt);
  return {};
}

Status Daemon::open_launcher() {
  const JobLimits& limits = settings_.limits;
  launch::LocalLauncher::Options options;
  options.folder = settings_.state;
  options.supervisor = settings_.supervisor;
  options.supervisor_environment = settings_.supervisor_environment;
  options.output_bytes_max = limits.output_bytes_max;
  options.output_floor = limits.output_floor.value_or(default_output_floor(settings_.state));
  options.memory_max = limits.memory_max;
  options.pids_max = limits.pids_max;
  const bool limited = limits.memory_max > 0 || limits.pids_max > 0;
  const Result<std::string> cgroups = launch::open_cgroups(settings_.state, limited);
  if (!cgroups && limited) {
    return Error{"jobs cannot be held to the limits that were asked for: " +
                 cgroups.error().message};
  }
  if (cgroups) options.cgroups = *cgroups;
  if (!cgroups) say_("jobs run without cgroups of their own: " + cgroups.error().message);
  // Simulated GPUs have no nodes.
  if (cgroups && !settings_.backend.starts_with("simulated")) {
    const Status works = launch::try_device_rules(*cgroups);
    rules_work_ = works.ok();
    if (!works) say_("jobs run without device rules: " + works.error().message);
  }
  launcher_ = std::make_unique<launch::LocalLauncher>(std::move(options), clock_);
  return launcher_->open();
}

Status Daemon::restore() {
  const Result<store::Contents> contents = store_->load();
  if (!contents) return contents.error();
  const Status recorded = open_journal();
  if (!recorded) return recorded;
  FAILPOINT(restore_jobs_read);
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    const device::Answer<std::vector<device::Instance>> instances =
        backend_->instances(gpus_[i].id);
    if (!instances) {  // the others are served all the same
      const std::string why = without_name(instances.error().message, gpus_[i].id);
      inputs_.push_back(control::GpuHealth{GpuId{i}, false, why, false});
      continue;
    }
    beginning_.inventories.push_back({GpuId{i}, *instances});
  }
  FAILPOINT(restore_devices_read);
  const std::vector<launch::AttemptKey> unsettled = control::unsettled_attempts(*contents);
  launcher_->forget_except({unsettled.begin(), unsettled.end()});  // their ends are in the store
  for (const launch::AttemptKey key : unsettled) {
    beginning_.attempts.push_back(launcher_->find(key));
  }
  FAILPOINT(restore_attempts_found);
  const Micros now = clock_.now();
  Result<control::Turn> turn =
      controller_->restore(now, *contents, beginning_.inventories, beginning_.attempts);
  if (!turn) return turn.error();
  recorder_->begin(now, beginning_, *turn);
  FAILPOINT(restore_reconciled);
  say_(fmt::format("{} jobs, {} of them not ended, {} processes found again",
                   controller_->jobs().size(), controller_->job_table().not_ended(),
                   controller_->count(control::JobState::kRunning)));
  output_ = std::make_unique<OutputKeeper>(launcher_->files(), settings_.limits.output,
                                           [this](JobNumber job) { return end_of(job); });
  output_->open([this](JobNumber job) { return controller_->find(job) != nullptr; });
  keep_output({});  // there may be no space to write anything before
  return finish(*std::move(turn));
}

Status Daemon::open_journal() {
  const control::JournalLimits& limits = settings_.limits.journal;
  Result<store::Store::JournalSize> size = store_->journal_size();
  if (size.ok() && control::should_begin_anew(*size, limits, clock_.now())) {
    say_("starting a new journal");
    const Status anew = store_->begin_journal_anew();
    if (!anew && !store_->out_of_space()) return anew;
    if (!anew) say_("no journal is kept until the next start: " + anew.error().message);
    size = store_->journal_size();
    if (size.ok() && !anew) size->closed = true;
  }
  if (!size) return size.error();
  recorder_ = std::make_unique<control::Recorder>(*size, limits);
  return {};
}

void Daemon::open_server() {
  around_.version = settings_.version;
  around_.backend = backend_->title();
  around_.policy = settings_.policy;
  around_.hostname = settings_.hostname;
  around_.events = [this](JobNumber job, std::size_t most) {
    auto events = store_->events(job, most);
    return events ? control::views_of(*events) : std::vector<control::EventView>();
  };
  around_.output = [this](JobNumber job, std::uint64_t offset, std::size_t most) {
    return read_output(job, offset, most);
  };
  around_.board = [this](GpuId gpu) { return workers_->board(gpu); };
  around_.why_closed = [this] {
    space_.look(clock_.now());
    return space_.why();
  };
  around_.disk = [this] { return api::DiskView{space_.free_bytes(), !space_.has_space()}; };
  around_.user_name = [this](std::uint32_t uid) { return accounts_.name_of(uid); };
  around_.uid_of = [this](const std::string& name) { return accounts_.uid_of(name); };
  around_.now = [this] { return clock_.now(); };
  around_.simulated = is_simulated(settings_.backend);
  around_.uid_min = settings_.limits.uid_min;
  around_.wait_to_submit = [this](std::uint32_t uid) {
    return submissions_.take(uid, clock_.now());
  };
  ServerLimits limits;
  limits.connections_per_user_max = settings_.limits.connections_per_user;
  service_ = std::make_unique<api::Service>(*controller_, around_);
  server_ = std::make_unique<Server>(
      limits, clock_,
      [this](const api::Request& request, const api::Caller& caller, control::Ticket ticket) {
        return handle(request, caller, ticket);
      });
}

Status Daemon::begin() {
  auto store = store::open_store(settings_.state, {});
  if (!store) return store.error();
  store_ = *std::move(store);
  space_.look(clock_.now());
  reserve_log();
  watch_signals();  // before any thread: they take over the mask
  Status ready = open_devices();
  if (ready.ok()) ready = open_controller();
  if (!ready) return ready;
  ready = open_launcher();
  if (!ready) return ready;
  std::vector<GpuId> ids;
  for (const device::GpuInfo& gpu : gpus_) ids.push_back(gpu.id);
  workers_ = std::make_unique<DeviceWorkers>(*backend_, ids);
  open_server();
  ready = restore();
  if (!ready) return ready;
  ready = server_->listen(settings_.socket);
  if (!ready) return ready;
  if (settings_.tcp) {
    authenticator_ = std::make_unique<TokenAuthenticator>(settings_.state, clock_, say_);
    const Result<api::Address> taken = server_->listen_tcp(*settings_.tcp, *authenticator_);
    if (!taken) return taken.error();
    say_(fmt::format("serving holders of tokens on {}", api::text_of(*taken)));
  }
  server_->watch(signals_, [this] { stop_ = true; });
  server_->watch(launcher_->wake_fd(), [] {});
  server_->watch(workers_->wake_fd(), [] {});
  if (around_.simulated) {
    say_("SIMULATED GPUs: jobs run, but on no GPU; --backend nvml serves those of this machine");
  }
  say_(fmt::format("serving {} on {} with {}{}", backend_->title(), settings_.socket,
                   settings_.policy, settings_.shadow ? ", in shadow mode" : ""));
  manager_.ready(fmt::format("serving {} with {}", backend_->title(), settings_.policy));
  return {};
}

void Daemon::watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGTERM);
  sigaddset(&watched, SIGINT);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like others
  ::signal(SIGCHLD, SIG_IGN);  // supervisors are nobody's to wait for
  signals_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  CHECK(signals_ >= 0);
}

// So that ends of jobs can be written while others fill the disk.
void Daemon::reserve_log() {
  const Status reserved = store_->reserve(log_reserve(settings_.state));
  if (!reserved) say_(reserved.error().message);
}

void Daemon::tell_storage() {
  space_.look(clock_.now());
  if (space_.has_space() == told_space_) return;
  told_space_ = space_.has_space();
  if (told_space_) reserve_log();
  // Before what came in: no submission of this turn is taken without space.
  inputs_.insert(inputs_.begin(), control::Storage{told_space_, space_.why()});
}

std::optional<Micros> Daemon::end_of(JobNumber job) const {
  const control::Job* found = controller_->find(job);
  if (found == nullptr || !control::has_ended(found->state())) return {};
  return Micros{found->progress.changed_us};
}

void Daemon::keep_output(const store::Batch& batch) {
  swept_at_ = clock_.now();
  const auto removed = output_->keep(batch, swept_at_);
  if (removed.empty()) return;
  say_(fmt::format("output of {} ended jobs was removed, up to job {}: it was too old or too much",
                   removed.size(), removed.back()));
}

std::optional<api::Response> Daemon::handle(const api::Request& request, const api::Caller& caller,
                                            control::Ticket ticket) {
  api::Handled handled = service_->handle(request, caller, ticket);
  if (auto* answer = std::get_if<api::Response>(&handled)) return std::move(*answer);
  if (unwritten_) return api::error_response(507, space_.why());
  inputs_.push_back(std::move(std::get<control::Input>(handled)));
  return {};
}

std::string Daemon::read_output(JobNumber job, std::uint64_t offset, std::size_t most) const {
  const int fd = launcher_->files().open_output(job);
  if (fd < 0) return why_no_output(controller_->find(job)).substr(0, offset == 0 ? most : 0);
  std::string bytes(most, '\0');
  const ssize_t size = ::pread(fd, bytes.data(), most, static_cast<off_t>(offset));
  ::close(fd);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

Micros Daemon::time_to_wait() {
  if (unwritten_) return kCommitRetry;
  if (!inputs_.empty()) return {};
  const Micros now = clock_.now();
  Micros wait = kWaitMax;
  if (told_space_) wait = std::min(wait, watched_at_ + settings_.watch_interval - now);
  if (const auto wake = controller_->next_wake()) wait = std::min(wait, *wake - now);
  return std::max(Micros{}, wait);
}

Status Daemon::run() {
  while (!stop_ && trouble_.ok()) {
    server_->serve(time_to_wait());
    const Micros watch = told_space_ ? settings_.watch_interval
                                     : std::max(settings_.watch_interval, kWatchOnFullDisk);
    if (!unwritten_ && clock_.now() - watched_at_ >= watch) {
      watched_at_ = clock_.now();
      workers_->survey_idle();
    }
    const Status turned = take_turn();
    if (!turned) return turned;
    manager_.alive(clock_.now());
  }
  manager_.stopping();
  if (trouble_.ok()) leave();
  return trouble_;
}

// A call to a driver that does not answer cannot be ended but with the process. What it leaves
// half done the next start finds, as after any other end.
void Daemon::leave() {
  if (const control::DryRun* dry_run = controller_->dry_run()) {
    say_("shadow: " + dry_run->summary(clock_.now()));
  }
  if (workers_->stop_within(kLeaveTime)) return;
  server_.reset();
  store_.reset();
  say_("stopped while a GPU does not answer; jobs go on");
  ::_exit(0);
}

// Everything that came in since the last turn is one step and one transaction.
Status Daemon::take_turn() {
  for (launch::Report& report : launcher_->poll()) {
    if (report.kind == launch::Report::Kind::kNoSpace) {
      space_.note_failure(clock_.now(), report.message);
    }
    inputs_.emplace_back(std::in_place_type<launch::Report>, std::move(report));
  }
  for (control::Input& result : workers_->take_results()) inputs_.push_back(std::move(result));
  if (unwritten_) {  // what came in waits: the controller is ahead of the store by one turn at most
    if (clock_.now() - tried_at_ < kCommitRetry) return {};
    return finish(*std::exchange(unwritten_, {}));
  }
  tell_storage();
  if (clock_.now() - swept_at_ >= kOutputSweep) keep_output({});
  const auto wake = controller_->next_wake();
  const bool due = wake && *wake <= clock_.now();
  if (inputs_.empty() && !due) return {};
  FAILPOINT(turn_inputs_taken);
  for (const control::Input& input : inputs_) {
    if (std::holds_alternative<control::Submit>(input)) FAILPOINT(turn_submission_taken);
    const bool cancels = std::holds_alternative<control::Cancel>(input) ||
                         std::holds_alternative<control::CancelJobs>(input);
    if (cancels) FAILPOINT(turn_cancel_taken);
  }
  const Micros now = clock_.now();
  control::Turn turn = controller_->step(now, inputs_);
  const bool kept = !recorder_->closed();
  recorder_->note(now, inputs_, turn);
  if (kept && recorder_->closed()) say_("the journal is full; the next start begins a new one");
  inputs_.clear();
  FAILPOINT(turn_stepped);
  return finish(std::move(turn));
}

// Written down first; then said, then done.
Status Daemon::finish(control::Turn turn) {
  const Status committed = store_->commit(turn.batch);
  if (!committed && store_->out_of_space()) {
    wait_for_space(std::move(turn), committed.error().message);
    return {};
  }
  if (!committed) return committed;  // what is on disk is the truth; the next start reads it
  FAILPOINT(turn_committed);
  announce(turn);
  keep_output(turn.batch);
  if (!turn.effects.empty()) FAILPOINT(turn_effects_begun);
  for (const control::Effect& effect : turn.effects) perform(effect);
  if (!turn.effects.empty()) FAILPOINT(turn_effects_done);
  return {};
}

// Nothing of the turn is said or done before it is written, and no other is taken: whoever looks is
// still answered, and jobs that end meanwhile have their ends in files.
void Daemon::wait_for_space(control::Turn turn, const std::string& why) {
  if (space_.has_space() || tried_at_ == Micros{}) {
    say_(fmt::format("{}; nothing is taken or started until it can be", why));
  }
  space_.note_failure(clock_.now(), why);
  tried_at_ = clock_.now();
  unwritten_ = std::move(turn);
}

void Daemon::announce(const control::Turn& turn) {
  if (std::exchange(tried_at_, {}) != Micros{}) say_("the store can be written again");
  for (const control::Reply& reply : turn.replies) {
    server_->answer(reply.ticket, service_->response_to(reply));
  }
  FAILPOINT(turn_replied);
  for (const store::EventRow& event : turn.batch.events) {
    server_->broadcast([&](const api::Caller& caller) {
      return service_->event_text(control::view_of(event), caller);
    });
    if (event.job == kNoJob) say_(fmt::format("{}: {}", event.kind, event.text));
    // In shadow mode the log is all there is.
    if (event.job != kNoJob && event.kind == "shadow") {
      say_(fmt::format("shadow: job {} {}", event.job, event.text));
    }
  }
}

void Daemon::perform(const control::Effect& effect) {
  if (const auto* each = std::get_if<control::Launch>(&effect)) return launch(*each);
  if (const auto* each = std::get_if<control::Stop>(&effect)) {
    return launcher_->stop(each->key, each->checkpoint);
  }
  if (const auto* each = std::get_if<control::Forget>(&effect)) {
    return launcher_->forget(each->key);
  }
  if (const auto* each = std::get_if<control::Create>(&effect)) {
    return workers_->order(each->gpu, *each);
  }
  const auto& destroy = std::get<control::Destroy>(effect);
  workers_->order(destroy.gpu, destroy);
}

// Of slices whose nodes are not known the operator is told once.
launch::DeviceRules Daemon::rules_for(const device::InstanceKey& instance) {
  if (!rules_work_) return {};
  const auto gpu = std::ranges::find(gpus_, instance.gpu, &device::GpuInfo::id);
  const std::string uuid = gpu == gpus_.end() ? std::string() : gpu->uuid;
  Result<launch::DeviceRules> rules = device_rules("/proc", uuid, instance.gi);
  if (rules) return *std::move(rules);
  if (!std::exchange(said_no_rules_, true)) {
    say_("a job runs without device rules: " + rules.error().message);
  }
  return {};
}

void Daemon::launch(const control::Launch& launch) {
  launch::Start start = launch.start;
  start.environment = job_environment(std::move(start.environment), start.owner.uid,
                                      backend_->job_environment(launch.instance));
  start.confinement.devices = rules_for(launch.instance);
  const Status started = launcher_->start(start);
  if (started.ok()) return;
  launch::Report report;
  report.kind = launch::Report::Kind::kNotStarted;
  report.key = start.key;
  report.message = started.error().message;
  inputs_.emplace_back(std::in_place_type<launch::Report>, std::move(report));
}

}  // namespace

Status run_daemon(const Settings& settings, void (*say)(const std::string& line), bool& began) {
  began = false;
  ::umask(0077);                         // what is ours is nobody else's
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // users' words and tokens stay out of core files
  Daemon daemon(settings, say);
  const Status begun = daemon.begin();
  if (!begun) return begun;
  began = true;
  return daemon.run();
}

}  // namespace partita::daemon
