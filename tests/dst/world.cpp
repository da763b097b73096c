#include "dst/world.h"

#include <fmt/format.h>

#include <algorithm>

namespace partita::dst {
namespace {

using control::JobState;

constexpr int kSubmissionsMax = 60;

}  // namespace

World::World(std::uint64_t seed, Rule rule)
    : rng_(seed, 1),
      policy_rng_(seed, 2),
      disk_rng_(seed, 3),
      steer_rng_(seed, 4),
      quota_rng_(seed, 5),
      seed_(seed),
      rule_(rule) {
  draw_policy();
  slices_.resize(gpu_count_);
  lost_.resize(gpu_count_);
  drained_.resize(gpu_count_);
  hung_.resize(gpu_count_);
  told_hung_.resize(gpu_count_);
  commands_.resize(gpu_count_);
  const auto maybe = [&] { return rng_.below(2) == 0; };
  faults_ = {maybe(), maybe(), maybe(), maybe(), maybe(), maybe(),
             maybe(), maybe(), maybe(), maybe(), maybe(), maybe()};
  boot();
}

World::~World() = default;

void World::mix(std::uint64_t value) {
  digest_.add(value);
}

void World::mix(const std::string& text) {
  digest_.add(text);
}

void World::wrong(const std::string& what) {
  if (!wrong_) wrong_ = fmt::format("seed {} step {}: {}", seed_, step_, what);
}

// ---- the life of the controller

control::Beginning World::beginning() const {
  control::Beginning beginning;
  beginning.policy = scheduler_ + "/" + repartition_;
  beginning.seed = seed_;
  beginning.model = *model_;
  for (std::uint32_t i = 0; i < gpu_count_; ++i) {
    beginning.gpus.push_back({fmt::format("GPU-{}", i), model_->title, GpuId{i}});
    if (!hung_[i]) beginning.inventories.push_back(inventory(GpuId{i}));
  }
  return beginning;
}

void World::boot() {
  controller_.reset();  // its policies look at the model of the last beginning
  unwritten_.reset();
  told_space_ = true;
  begun_ = beginning();
  control::Beginning& begun = begun_;
  begun.options.pass_interval = Micros{rng_.below(2) == 0 ? 0 : 20'000};
  if (rng_.below(2) == 0) begun.options.preempt_after = Micros::seconds(5);
  if (rule_ == Rule::kShared) draw_queue_rules(begun.options);
  if (has_quotas()) draw_quotas(begun.options);
  if (rule_ == Rule::kPays) {
    begun.options.preemption = {decide::Preemption::Mode::kPays, Micros{1'500'000}};
  }
  auto policies = make_policies(begun);
  CHECK(policies.ok());
  controller_ = std::make_unique<control::Controller>(begun.options, *model_, begun.gpus,
                                                      *std::move(policies));
  if (rng_.below(8) == 0) CHECK(store_.begin_journal_anew().ok());
  recorder_ = std::make_unique<control::Recorder>(*store_.journal_size());
  const auto contents = store_.load();
  check_older_store(*contents);
  for (const launch::AttemptKey key : control::unsettled_attempts(*contents)) {
    begun.attempts.push_back(find(key));
  }
  auto turn = controller_->restore(now_, *contents, begun.inventories, begun.attempts);
  if (!turn.ok()) return wrong("restore: " + turn.error().message);
  recorder_->begin(now_, begun, *turn);
  perform(*std::move(turn), false);
  for (std::uint32_t i = 0; i < gpu_count_; ++i) told_hung_[i] = false;
}

// What was on its way may have arrived or not.
void World::crash() {
  ++crashes_;
  controller_.reset();
  reports_.clear();
  for (auto& queue : commands_) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (i > 0 || rng_.below(2) == 0) continue;
      DeviceCommand half = queue[i];
      done(half, rng_.below(3) == 0);
    }
    queue.clear();
  }
  // Supervisors that were started but had not yet claimed their attempt.
  for (auto& [key, process] : processes_) {
    if (!process.claimed && rng_.below(2) == 0) process.begins_at = Micros::max();
  }
  for (auto& [key, pending] : unanswered_) pending.ticket = 0;
  own_what_was_being_made();
  boot();
}

bool World::maybe_crash(bool faults) {
  return faults && faults_.crashes && rng_.below(60) == 0;
}

bool World::perform(control::Turn turn, bool faults) {
  if (maybe_crash(faults)) {
    crash();
    return false;
  }
  const Status committed = store_.commit(turn.batch);
  if (!committed && store_.out_of_space()) {
    ++turns_unwritten_;
    unwritten_ = std::move(turn);
    return true;
  }
  if (!committed) wrong("commit: " + committed.error().message);
  return carry_out(turn, faults);
}

// What follows once a turn is in the store.
bool World::carry_out(const control::Turn& turn, bool faults) {
  for (const auto& progress : turn.batch.progress) {
    mix(static_cast<std::uint64_t>(progress.id.value * 16 + progress.state));
  }
  for (const auto& event : turn.batch.events) {
    mix(event.kind + event.text);
    ++events_[event.kind];
    if (event.kind == "waits" && event.text.starts_with("quota: ")) ++quota_waits_;
  }
  check_preempted(turn);
  if (maybe_crash(faults)) {
    crash();
    return false;
  }
  take_replies(turn);
  for (const control::Effect& effect : turn.effects) {
    if (maybe_crash(faults)) {
      crash();
      return false;
    }
    carry_out(effect);
  }
  return true;
}

void World::carry_out(const control::Effect& effect) {
  const auto needs_intent = [&](const char* kind, const std::string& subject) {
    if (!store_.has_intent(kind, subject)) wrong(fmt::format("{} {} not intended", kind, subject));
  };
  if (const auto* each = std::get_if<control::Launch>(&effect)) {
    needs_intent("launch", launch::text_of(each->start.key));
    return launch(*each);
  }
  if (const auto* each = std::get_if<control::Stop>(&effect)) {
    needs_intent("stop", launch::text_of(each->key));
    processes_[each->key].stop = true;
    return;
  }
  if (const auto* each = std::get_if<control::Forget>(&effect)) {
    processes_[each->key].forgotten = true;
    return;
  }
  DeviceCommand command;
  if (const auto* each = std::get_if<control::Create>(&effect)) {
    command = {true, each->gpu, each->placement, {}, now_};
  } else {
    const auto& gone = std::get<control::Destroy>(effect);
    command = {false, gone.gpu, gone.placement, gone.instance, now_};
    if (foreign_uuids_.contains(gone.instance.uuid)) wrong("a foreign slice is destroyed");
  }
  needs_intent(command.create ? "create" : "destroy",
               fmt::format("GPU-{}:{}", command.gpu.value, command.placement.start));
  command.due += Micros{static_cast<std::int64_t>(rng_.below(800'000))};
  commands_[command.gpu.value].push_back(command);
}

void World::launch(const control::Launch& launch) {
  check_start(launch.start.key.job);
  if (controller_->devices().drained(launch.instance.gpu))
    wrong("a job starts on a GPU that is drained");
  Process& process = processes_[launch.start.key];
  if (process.begins_at != Micros{} || process.claimed) {
    wrong(fmt::format("attempt {} is launched twice", launch::text_of(launch.start.key)));
  }
  if (!told_space_) wrong("a job is started although there is no space");
  process.uuid = launch.instance.uuid;
  process.gpu = launch.instance.gpu.value;
  if (rule_ == Rule::kFullDisk && (disk_ != Disk::kSpace || disk_rng_.below(40) == 0)) {
    process.claimed = process.no_space = true;
    if (disk_ == Disk::kSpace) disk_ = Disk::kLow;
    return;
  }
  process.begins_at = now_ + Micros{static_cast<std::int64_t>(rng_.below(50'000))};
  const std::string visible = "CUDA_VISIBLE_DEVICES=" + launch.instance.uuid;
  if (std::ranges::find(launch.start.environment, visible) == launch.start.environment.end()) {
    wrong("a job does not get its slice");
  }
}

// ---- what happens by itself

World::JobTruth& World::truth_of(JobNumber job) {
  JobTruth& truth = truths_[job];
  if (truth.length == Micros{}) {
    Rng rng(seed_, 1000 + static_cast<std::uint64_t>(job.value));
    const double most = most_gib_;
    truth.length = Micros::seconds(static_cast<std::int64_t>(1 + rng.below(120)));
    truth.peak_gib = rng.uniform(0.1, most * 0.95);
    truth.exit_code = rng.below(6) == 0 ? 3 : 0;
  }
  return truth;
}

double World::used_gib(launch::AttemptKey key, const Process& process) const {
  const JobTruth& truth = truths_.at(key.job);
  const double done = (now_ - process.began).to_seconds() / truth.length.to_seconds();
  return truth.peak_gib * std::min(1.0, 0.2 + 0.8 * done);
}

World::DeviceSlice* World::slice_at(GpuId gpu, const std::string& uuid) {
  for (DeviceSlice& slice : slices_[gpu.value]) {
    if (slice.key.uuid == uuid) return &slice;
  }
  return nullptr;
}

// By value: the text may stand in the slice that goes.
void World::remove_slice(GpuId gpu, std::string uuid) {
  std::erase_if(slices_[gpu.value],
                [&](const DeviceSlice& slice) { return slice.key.uuid == uuid; });
  foreign_uuids_.erase(uuid);
}

void World::move_processes() {
  for (auto& [key, process] : processes_) {
    JobTruth& truth = truth_of(key.job);
    const bool due = process.begins_at != Micros{} && process.begins_at <= now_;
    if (!process.claimed && due) {
      process.claimed = process.running = true;
      ++process.starts;
      if (truth.succeeded && !requeued_.contains(key.job))
        wrong(fmt::format("job {} runs again after its success", key.job));
      process.began = now_;
      process.ends = now_ + truth.length;
      const DeviceSlice* slice = slice_at(GpuId{process.gpu}, process.uuid);
      process.capacity_gib =
          slice == nullptr ? 0 : model_->profiles[slice->placement.profile].memory_gib;
      if (slice == nullptr) process.ends = now_;
      if (faults_.launch_fails && rng_.below(20) == 0) {
        process.refused = true;
        process.running = false;
      }
    }
    if (!process.running) continue;
    const bool gone = slice_at(GpuId{process.gpu}, process.uuid) == nullptr;
    if (used_gib(key, process) > process.capacity_gib && !gone) {
      process.memory_out = true;
      process.exit_code = 1;
    } else if (process.stop && rng_.below(3) == 0) {
      process.exit_code = 143;
    } else if (gone && rng_.below(4) == 0) {
      process.exit_code = 139;
    } else if (now_ >= process.ends) {
      process.exit_code = truth.exit_code;
      truth.succeeded = truth.succeeded || truth.exit_code == 0;
    } else {
      continue;
    }
    process.running = false;
  }
}

launch::Report World::find(launch::AttemptKey key) {
  Process& process = processes_[key];
  launch::Report report;
  report.key = key;
  report.pid = 1;
  if (!process.claimed) {
    process.claimed = process.revoked = true;
    report.kind = launch::Report::Kind::kNotStarted;
  } else if (process.revoked || process.refused || process.no_space) {
    // Of one that had no space there is nothing, so it is as if it had never been tried.
    report.kind = launch::Report::Kind::kNotStarted;
    report.message = process.refused ? "no such program" : "";
  } else if (process.running) {
    process.told_start = true;
    report.kind = launch::Report::Kind::kStarted;
  } else if (process.exit_code < 0) {
    report.kind = launch::Report::Kind::kVanished;
  } else {
    process.forgotten = true;
    report.kind = launch::Report::Kind::kEnded;
    report.exit_code = process.exit_code;
    report.message = process.memory_out ? "CUDA out of memory" : "";
  }
  return report;
}

control::Inventory World::inventory(GpuId gpu) const {
  control::Inventory inventory;
  inventory.gpu = gpu;
  for (const DeviceSlice& slice : slices_[gpu.value]) {
    device::Instance instance;
    instance.key = slice.key;
    instance.placement = slice.placement;
    instance.compute_instances = slice.orphan ? 0 : 1;
    inventory.instances.push_back(instance);
  }
  return inventory;
}

// Carries out a command on the GPU and says how it went.
control::Input World::done(const DeviceCommand& command, bool faults) {
  auto& slices = slices_[command.gpu.value];
  if (hung_[command.gpu.value]) {
    const device::DeviceError error{device::Fault::kTimeout, "no answer", {}};
    if (!command.create) return control::DestroyDone{command.gpu, command.placement, false, error};
    mig::Layout layout;
    for (const DeviceSlice& slice : slices) layout.add(slice.placement);
    const bool late = faults && mig::fits(*model_, layout, command.placement) && rng_.below(2) == 0;
    if (late) {
      const std::uint32_t gi = next_gi_++;
      // Nobody can tell it from a foreign one, so it must be left alone like one.
      const std::string uuid = fmt::format("MIG-{}", gi);
      slices.push_back({command.placement, {command.gpu, gi, uuid}, true, false});
      foreign_uuids_.insert(uuid);
    }
    return control::CreateDone{command.gpu, command.placement, {}, error};
  }
  if (command.create) {
    control::CreateDone result{command.gpu, command.placement, {}, {}};
    mig::Layout layout;
    for (const DeviceSlice& slice : slices) layout.add(slice.placement);
    const bool fits = mig::fits(*model_, layout, command.placement);
    const bool fails = faults && faults_.create_fails && rng_.below(4) == 0;
    // Half of it may be left.
    if (fits && fails && !lost_[command.gpu.value] && rng_.below(2) == 0) {
      const std::uint32_t half = next_gi_++;
      slices.push_back(
          {command.placement, {command.gpu, half, fmt::format("HALF-{}", half)}, false, true});
    }
    if (lost_[command.gpu.value] || !fits || fails) {
      result.error = {device::Fault::kInsufficientResources, "no room", {}};
      return result;
    }
    const std::uint32_t gi = next_gi_++;
    DeviceSlice made{command.placement, {command.gpu, gi, fmt::format("MIG-{}", gi)}, false, false};
    slices.push_back(made);
    result.instance = inventory(command.gpu).instances.back();
    return result;
  }
  control::DestroyDone result{command.gpu, command.placement, false, {}};
  const DeviceSlice* slice = slice_at(command.gpu, command.key.uuid);
  for (const auto& [key, process] : processes_) {
    if (process.running && process.uuid == command.key.uuid && slice != nullptr) {
      wrong(fmt::format("the slice of attempt {} is destroyed", launch::text_of(key)));
    }
  }
  if (faults && faults_.destroy_fails && rng_.below(3) == 0) {
    result.error = {device::Fault::kInUse, "in use by nobody that can be seen", {}};
    return result;
  }
  remove_slice(command.gpu, command.key.uuid);
  result.gone = true;
  return result;
}

// ---- inputs

void World::client_inputs(std::vector<control::Input>& inputs) {
  if (submissions_ < kSubmissionsMax && rng_.below(4) == 0) {
    PendingSubmit pending;
    pending.key = fmt::format("key-{}", submissions_++);
    pending.count = rng_.below(8) == 0 ? 3 : 1;
    pending.spec.argv = {"train"};
    pending.spec.directory = "/";
    pending.spec.name = fmt::format("name-{}", rng_.below(6));
    if (rng_.below(2) == 0) pending.spec.memory_gib = rng_.uniform(0.05, 1) * most_gib_;
    if (rng_.below(2) == 0) pending.spec.checkpoint = {"save"};
    if (rng_.below(3) == 0) {
      pending.spec.deadline = now_ + Micros::seconds(static_cast<std::int64_t>(rng_.below(500)));
    }
    if (rule_ == Rule::kPays) draw_hurry(pending.spec);
    if (rule_ == Rule::kSteered) draw_wishes(pending.spec);
    if (rule_ == Rule::kLookahead && policy_rng_.below(4) > 0) {
      pending.spec.times.back() = micros_from_seconds(policy_rng_.uniform(1, 60));
    }
    unanswered_[pending.key] = pending;
  }
  for (auto& [key, pending] : unanswered_) {
    if (pending.ticket != 0 && rng_.below(10) != 0) continue;
    pending.ticket = next_ticket_++;
    inputs.emplace_back(std::in_place_type<control::Submit>, pending.ticket, owner_of(key), key,
                        pending.spec, pending.count);
  }
  // An answer that was lost on the way: the client asks again with the same key.
  if (faults_.clients_vanish && !answered_.empty() && rng_.below(20) == 0) {
    const auto each = std::next(answered_.begin(), static_cast<long>(rng_.below(answered_.size())));
    control::JobSpec spec;
    spec.argv = {"train"};
    spec.directory = "/";
    spec.name = "again";
    unanswered_[each->first] = {each->first, each->second.size(), spec, next_ticket_};
    inputs.emplace_back(std::in_place_type<control::Submit>, next_ticket_++, owner_of(each->first),
                        each->first, spec, each->second.size());
  }
  if (!acknowledged_.empty() && rng_.below(25) == 0) {
    const auto each =
        std::next(acknowledged_.begin(), static_cast<long>(rng_.below(acknowledged_.size())));
    if (each->value % 2 == 0) return cancel_from(each, inputs);
    inputs.emplace_back(std::in_place_type<control::Cancel>, next_ticket_++, *each);
    cancelled_.insert(*each);
  }
}

// Up to three in one request of the owner of the first; those of others stay.
void World::cancel_from(std::set<JobNumber>::const_iterator each,
                        std::vector<control::Input>& inputs) {
  const control::Job* first = controller_->find(*each);
  if (first == nullptr) return;
  const std::uint32_t caller = first->owner.uid;
  control::CancelJobs cancel{next_ticket_++, {}, caller};
  cancellers_[cancel.ticket] = caller;
  for (; each != acknowledged_.end() && cancel.jobs.size() < 3; ++each) {
    cancel.jobs.push_back(*each);
    const control::Job* job = controller_->find(*each);
    if (job != nullptr && job->owner.uid == caller) cancelled_.insert(*each);
  }
  inputs.emplace_back(std::move(cancel));
}

void World::device_inputs(std::vector<control::Input>& inputs, bool faults) {
  for (auto& queue : commands_) {
    if (queue.empty() || queue.front().due > now_) continue;
    const DeviceCommand command = queue.front();
    queue.pop_front();
    inputs.push_back(done(command, faults));
  }
}

void World::process_inputs(std::vector<control::Input>& inputs) {
  for (auto& [key, process] : processes_) {
    if (!process.claimed || process.revoked || process.forgotten) continue;
    launch::Report report;
    report.key = key;
    report.pid = 1;
    if (!process.told_start && process.running) {
      process.told_start = true;
      inputs.emplace_back(std::in_place_type<launch::Report>, report);
    }
    if (process.running) continue;
    report.kind =
        process.exit_code < 0 ? launch::Report::Kind::kVanished : launch::Report::Kind::kEnded;
    report.exit_code = process.exit_code;
    report.message = process.memory_out ? "RuntimeError: CUDA out of memory." : "";
    if (process.refused) {
      report.kind = launch::Report::Kind::kNotStarted;
      report.message = "no such program";
    }
    if (process.no_space) {
      report.kind = launch::Report::Kind::kNoSpace;
      report.message = "no space to write down how it ends";
    }
    inputs.emplace_back(std::in_place_type<launch::Report>, report);
  }
}

void World::reading_inputs(std::vector<control::Input>& inputs) {
  for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
    if (hung_[gpu] && !told_hung_[gpu]) {
      told_hung_[gpu] = true;
      inputs.push_back(control::GpuHealth{GpuId{gpu}, false, "no answer", false});
    }
    if (lost_[gpu] || hung_[gpu]) continue;
    control::Reading reading;
    reading.gpu = GpuId{gpu};
    reading.energy_j = now_.to_seconds() * 100;
    for (const auto& [key, process] : processes_) {
      if (!process.running || process.gpu != gpu) continue;
      const DeviceSlice* slice = slice_at(GpuId{gpu}, process.uuid);
      if (slice == nullptr) continue;
      reading.slices.push_back({slice->placement.start, process.uuid, used_gib(key, process)});
    }
    inputs.emplace_back(std::in_place_type<control::Reading>, reading);
    if (commands_[gpu].empty() && rng_.below(5) == 0) {
      inputs.emplace_back(std::in_place_type<control::Inventory>, inventory(GpuId{gpu}));
    }
  }
}

std::vector<control::Input> World::inputs_of_turn(bool faults) {
  std::vector<control::Input> inputs;
  storage_inputs(inputs);
  if (faults) client_inputs(inputs);
  if (faults && rule_ == Rule::kSteered) steer(inputs);
  device_inputs(inputs, faults);
  process_inputs(inputs);
  reading_inputs(inputs);
  if (faults) mischief(inputs);
  if (faults) return inputs;
  let_go(inputs);
  for (auto& [key, pending] : unanswered_) {
    if (pending.ticket != 0) continue;
    pending.ticket = next_ticket_++;
    inputs.emplace_back(std::in_place_type<control::Submit>, pending.ticket, owner_of(key), key,
                        pending.spec, pending.count);
  }
  for (std::uint32_t i = 0; i < gpu_count_; ++i) {
    if (!lost_[i] && !drained_[i] && !hung_[i]) continue;
    lost_[i] = drained_[i] = hung_[i] = false;
    inputs.emplace_back(std::in_place_type<control::GpuHealth>, GpuId{i}, true, "", false);
  }
  return inputs;
}

void World::turn(bool faults) {
  ++step_;
  now_ += Micros{static_cast<std::int64_t>(rng_.below(1'500'000))};
  leap(faults);
  move_processes();
  fill_disk(faults);
  if (unwritten_) {  // nothing else is done until it is written
    control::Turn turn = *std::move(unwritten_);
    unwritten_.reset();
    perform(std::move(turn), faults);
  } else {
    const std::vector<control::Input> inputs = inputs_of_turn(faults);
    if (unwritten_) return;  // the machine went down meanwhile
    control::Turn turn = controller_->step(now_, inputs);
    recorder_->note(now_, inputs, turn);
    const bool alive = perform(std::move(turn), faults);
    if (!wrong_ && alive) check_rest();
  }
  if (!wrong_) check_step();
}

std::optional<std::string> World::run(int steps) {
  while (step_ < steps && !wrong_) turn(true);
  // Faults are over and foreign slices go: everything that fits must now run to its end.
  for (std::uint32_t i = 0; i < gpu_count_; ++i) {
    const auto slices = slices_[i];
    for (const DeviceSlice& slice : slices) {
      if (slice.foreign) remove_slice(GpuId{i}, slice.key.uuid);
    }
  }
  if (faults_.hangs && faults_.crashes) remove_ambiguous();
  constexpr int kStepsToEnd = 40'000;
  const int last = step_ + kStepsToEnd;
  while (step_ < last && !wrong_ &&
         (controller_->job_table().not_ended() > 0 || !unanswered_.empty() || unwritten_)) {
    turn(false);
  }
  // What is still being made or unmade comes to an end, and whims of policies have pauses.
  const auto at_work = [](const auto& commands) { return !commands.empty(); };
  for (int i = 0; (i < 50 || (i < 500 && std::ranges::any_of(commands_, at_work))) && !wrong_; ++i)
    turn(false);
  if (!wrong_) check_end();
  if (!wrong_) check_replay();
  if (wrong_) tell_last_events();
  return wrong_;
}

}  // namespace partita::dst
