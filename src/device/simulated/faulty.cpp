#include "device/simulated/faulty.h"

#include <fmt/format.h>

#include <algorithm>

namespace partita::device {
namespace {

constexpr double kDeadlineSeconds = 30;
constexpr std::uint64_t kOwnGenerations = std::uint64_t{1} << 62U;  // never the inner backend's
constexpr int kOtherIds = 100;

DeviceError trouble(Fault fault, GpuId gpu, std::string_view what) {
  return {fault, fmt::format("GPU {}: {}", gpu.value, what), {}};
}

int default_xid(int number) {
  switch (number) {
    case 6:
      return 79;
    case 7:
      return 95;
    case 8:
      return 94;
    case 9:
      return 31;
    case 10:
      return 63;
    default:
      return 94;
  }
}

}  // namespace

FaultyBackend::FaultyBackend(std::unique_ptr<Backend> inner, FaultyOptions options, Clock& clock)
    : inner_(std::move(inner)),
      clock_(clock),
      rules_(std::move(options.rules)),
      rate_(options.rate),
      rng_(options.seed) {}

std::string FaultyBackend::title() {
  return fmt::format("faulty, {}", inner_->title());
}

void FaultyBackend::add(FaultRule rule) {
  CHECK(rule.number >= 1 && rule.number <= kFaultsMax);
  Lock lock(mutex_);
  rules_.push_back(std::move(rule));
}

void FaultyBackend::clear() {
  Lock lock(mutex_);
  rules_.clear();
  rate_ = 0;
  hung_.clear();
}

void FaultyBackend::reset(GpuId gpu) {
  Lock lock(mutex_);
  lost_.erase(gpu);
  needs_reset_.erase(gpu);
  hung_.erase(gpu);
  std::erase_if(orphans_, [&](const Instance& orphan) { return orphan.key.gpu == gpu; });
  const Answer<std::vector<Instance>> there = inner_->instances(inside(gpu));
  if (!there) return;
  for (const Instance& instance : *there) {
    const Done gone = inner_->destroy(instance.key);
    (void)gone;  // a process that holds it is the test's to end
  }
}

GpuId FaultyBackend::inside(GpuId outer) const {
  if (outer.value >= gpus_known_) return outer;
  return {(outer.value + gpus_known_ - shift_) % gpus_known_};
}

GpuId FaultyBackend::outside(GpuId inner) const {
  if (inner.value >= gpus_known_) return inner;
  return {(inner.value + shift_) % gpus_known_};
}

InstanceKey FaultyBackend::inside(InstanceKey key) const {
  key.gpu = inside(key.gpu);
  return key;
}

bool FaultyBackend::can_strike(int number, Call call) {
  switch (number) {
    case 1:
    case 2:
      return call == Call::kCreate;
    case 3:
    case 4:
      return call == Call::kDestroy;
    case 5:
    case 6:
      return call != Call::kGpus && call != Call::kEvents;
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 19:
      return call == Call::kEvents;
    case 12:
    case 16:
      return call == Call::kGpus;
    case 13:
      return call == Call::kInstances;
    case 14:
      return call == Call::kCreate || call == Call::kDestroy || call == Call::kGpus;
    case 17:
      return call == Call::kMemory;
    default:
      return number == 15 || number == 18;
  }
}

// By chance, a rule for this call and no other.
void FaultyBackend::draw(Call call, GpuId gpu) {
  if (rate_ <= 0 || rng_.uniform() >= rate_) return;
  FaultRule rule;
  do {
    rule.number = static_cast<int>(rng_.below(kFaultsMax)) + 1;
  } while (!can_strike(rule.number, call));
  if (gpu.valid()) rule.gpu = gpu;
  rule.orphan = rng_.below(2) == 0;
  rule.vanish = rng_.below(2) == 0;
  rule.mismatch = rng_.below(2) == 0;
  if (rule.number == 18) rule.seconds = rng_.uniform(0.1, 5);
  rules_.push_back(rule);
}

std::optional<FaultRule> FaultyBackend::struck(std::initializer_list<int> numbers, Call call,
                                               GpuId gpu) {
  for (FaultRule& rule : rules_) {
    if (std::ranges::count(numbers, rule.number) == 0 || !can_strike(rule.number, call)) continue;
    if (rule.gpu && gpu.valid() && *rule.gpu != gpu) continue;
    if (rule.after > 0) {
      --rule.after;
      continue;
    }
    if (rule.times == 0) continue;
    if (rule.times > 0) --rule.times;
    return rule;
  }
  return {};
}

FaultyBackend::Trouble FaultyBackend::driver_trouble(Call call, GpuId gpu) {
  if (const auto rule = struck({15}, call, gpu)) {
    if (rule->mismatch) {
      return DeviceError{Fault::kVersionMismatch, "the library and the driver differ", {}};
    }
    return DeviceError{Fault::kDriverGone, "the driver is not loaded", {}};
  }
  if (struck({14}, call, gpu)) {
    return DeviceError{Fault::kNoPermission,
                       "not allowed: grant read access to "
                       "/proc/driver/nvidia/capabilities/mig/config",
                       {}};
  }
  return {};
}

// A GPU that does not answer keeps no other from answering.
void FaultyBackend::sleep_without(Lock& lock, double seconds) {
  lock.unlock();
  clock_.sleep(micros_from_seconds(seconds));
  lock.lock();
}

FaultyBackend::Trouble FaultyBackend::before(Call call, GpuId gpu, Lock& lock) {
  draw(call, gpu);
  if (const auto rule = struck({18}, call, gpu)) {
    sleep_without(lock, rule->seconds.value_or(1));
  }
  if (Trouble found = driver_trouble(call, gpu)) return found;
  if (const auto rule = struck({5}, call, gpu)) {
    // The first call waits for the deadline; then the GPU is known to hang.
    if (hung_.insert(gpu).second) {
      sleep_without(lock, rule->seconds.value_or(kDeadlineSeconds));
    }
    return trouble(Fault::kTimeout, gpu, "no answer by the deadline");
  }
  hung_.erase(gpu);
  if (struck({6}, call, gpu) && lost_.insert(gpu).second) {
    own_events_.push_back({.gpu = gpu, .xid = default_xid(6), .gi = {}, .generation = 0});
  }
  if (lost_.contains(gpu)) return trouble(Fault::kGpuLost, gpu, "it fell off the bus");
  const bool changes = call == Call::kCreate || call == Call::kMode;
  if (changes && needs_reset_.contains(gpu)) {
    return trouble(Fault::kResetRequired, gpu, "a row remapping waits for a reset");
  }
  return {};
}

// F12: as after a reboot. Slices are gone, ids have moved on by one.
void FaultyBackend::restart() {
  for (std::uint32_t i = 0; i < gpus_known_; ++i) reset({i});
  ++restarts_;
  if (gpus_known_ > 0) shift_ = (shift_ + 1) % gpus_known_;
}

Answer<std::vector<GpuInfo>> FaultyBackend::gpus() {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kGpus, {}, lock)) return *found;
  Answer<std::vector<GpuInfo>> all = inner_->gpus();
  if (!all) return all;
  gpus_known_ = static_cast<std::uint32_t>(all->size());
  if (struck({12}, Call::kGpus, {})) restart();
  if (struck({16}, Call::kGpus, {})) renumbered_ = true;
  for (GpuInfo& gpu : *all) {
    gpu.id = outside(gpu.id);
    if (restarts_ > 0) gpu.boot_id += fmt::format("+{}", restarts_);
    if (lost_.contains(gpu.id)) gpu.trouble = trouble(Fault::kGpuLost, gpu.id, "it is lost");
    if (!renumbered_ || gpu.model == nullptr || gpu.id.value % 2 == 0) continue;
    auto other = std::make_shared<mig::GpuModel>(*gpu.model);
    for (mig::Profile& profile : other->profiles) profile.nvml_id += kOtherIds;
    gpu.model = std::move(other);
  }
  std::ranges::sort(*all, {}, &GpuInfo::id);
  return all;
}

// F13: someone else makes a slice, or takes one of ours.
void FaultyBackend::change_behind_our_back(GpuId gpu, bool vanish) {
  const Answer<std::vector<Instance>> there = inner_->instances(inside(gpu));
  const Answer<std::vector<GpuInfo>> all = inner_->gpus();
  if (!there || !all || inside(gpu).value >= all->size()) return;
  if (vanish) {
    for (const Instance& instance : *there) {
      if (inner_->destroy(instance.key)) return;
    }
    return;
  }
  const mig::GpuModel& model = *(*all)[inside(gpu).value].model;
  const mig::Layout layout = layout_of(*there);
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    for (const std::uint8_t start : model.profiles[i].starts) {
      const mig::Placement placement{static_cast<mig::ProfileIndex>(i), start};
      if (!mig::fits(model, layout, placement) || !mig::fits(model, orphans_on(gpu), placement)) {
        continue;
      }
      if (inner_->create(inside(gpu), placement)) return;
    }
  }
}

Answer<std::vector<Instance>> FaultyBackend::instances(GpuId gpu) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kInstances, gpu, lock)) return *found;
  if (const auto rule = struck({13}, Call::kInstances, gpu)) {
    change_behind_our_back(gpu, rule->vanish);
  }
  Answer<std::vector<Instance>> all = inner_->instances(inside(gpu));
  if (!all) return all;
  for (Instance& instance : *all) instance.key.gpu = gpu;
  for (const Instance& orphan : orphans_) {
    if (orphan.key.gpu == gpu) all->push_back(orphan);
  }
  std::ranges::sort(*all, {}, [](const Instance& instance) { return instance.placement.start; });
  return all;
}

FaultyBackend::Trouble FaultyBackend::in_the_way(GpuId gpu, mig::Placement placement) {
  const Answer<std::vector<GpuInfo>> all = inner_->gpus();
  if (!all || inside(gpu).value >= all->size()) return {};
  const mig::GpuModel& model = *(*all)[inside(gpu).value].model;
  if (placement.profile >= model.profiles.size()) return {};
  // What no GPU could hold anyway is the inner backend's to refuse.
  if (!mig::fits(model, {}, placement)) return {};
  if (mig::fits(model, orphans_on(gpu), placement)) return {};
  return trouble(Fault::kInsufficientResources, gpu, "a half-made slice is in the way");
}

bool FaultyBackend::is_orphan(const InstanceKey& key) const {
  return std::ranges::count(orphans_, key, &Instance::key) > 0;
}

mig::Layout FaultyBackend::orphans_on(GpuId gpu) const {
  mig::Layout layout;
  for (const Instance& orphan : orphans_) {
    if (orphan.key.gpu == gpu) layout.add(orphan.placement);
  }
  return layout;
}

FaultyBackend::Trouble FaultyBackend::create_trouble(GpuId gpu, mig::Placement placement) {
  if (struck({1}, Call::kCreate, gpu)) {
    return trouble(Fault::kInsufficientResources, gpu, "the driver says there is no room");
  }
  const auto half = struck({2}, Call::kCreate, gpu);
  if (!half) return in_the_way(gpu, placement);
  if (Trouble found = in_the_way(gpu, placement)) return found;
  // Only where a slice could be made is there anything to leave.
  const Answer<Instance> made = inner_->create(inside(gpu), placement);
  if (!made) return made.error();
  const Done taken_back = inner_->destroy(made->key);
  const bool left = half->orphan && taken_back.ok();
  if (left) {
    Instance orphan = *made;
    orphan.key = {gpu, made->key.gi, {}};
    orphan.compute_instances = 0;
    orphan.ci = {};
    orphan.generation = kOwnGenerations + ++made_;
    orphans_.push_back(orphan);
  }
  return trouble(Fault::kUnknown, gpu,
                 left ? "the compute instance could not be made; the GPU instance is left"
                      : "the compute instance could not be made; the GPU instance was taken back");
}

Answer<Instance> FaultyBackend::create(GpuId gpu, mig::Placement placement) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kCreate, gpu, lock)) return *found;
  if (Trouble found = create_trouble(gpu, placement)) return *found;
  Answer<Instance> made = inner_->create(inside(gpu), placement);
  if (made) made->key.gpu = gpu;
  return made;
}

FaultyBackend::Trouble FaultyBackend::destroy_trouble(const InstanceKey& key) {
  if (const auto rule = struck({3}, Call::kDestroy, key.gpu)) {
    DeviceError error = trouble(Fault::kInUse, key.gpu, "a process holds " + key.uuid);
    error.pids = rule->pids.empty() ? std::vector{4711} : rule->pids;
    return error;
  }
  if (struck({4}, Call::kDestroy, key.gpu)) {
    return trouble(Fault::kInUse, key.gpu,
                   "in use, and no process is visible: a monitor may hold a file of "
                   "/dev/nvidia-caps");
  }
  return {};
}

Done FaultyBackend::destroy(const InstanceKey& key) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kDestroy, key.gpu, lock)) return *found;
  if (Trouble found = destroy_trouble(key)) return *found;
  const auto orphan = std::ranges::find(orphans_, key, &Instance::key);
  if (orphan != orphans_.end()) {
    orphans_.erase(orphan);
    return Nothing{};
  }
  const Answer<std::vector<Instance>> there = inner_->instances(inside(key.gpu));
  Done done = inner_->destroy(inside(key));
  if (!done || !there) return done;
  for (const Instance& instance : *there) {
    if (instance.key == inside(key)) destroyed_[{key.gpu, key.gi}] = instance.generation;
  }
  return done;
}

Answer<MemoryUse> FaultyBackend::memory(const InstanceKey& key) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kMemory, key.gpu, lock)) return *found;
  if (is_orphan(key)) return MemoryUse{};
  Answer<MemoryUse> use = inner_->memory(inside(key));
  if (use && struck({17}, Call::kMemory, key.gpu)) use->used_mib = use->total_mib;
  return use;
}

Answer<std::vector<ProcessUse>> FaultyBackend::processes(const InstanceKey& key) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kProcesses, key.gpu, lock)) return *found;
  if (is_orphan(key)) return std::vector<ProcessUse>();
  return inner_->processes(inside(key));
}

Answer<std::int64_t> FaultyBackend::power_mw(GpuId gpu) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kPower, gpu, lock)) return *found;
  return inner_->power_mw(inside(gpu));
}

Answer<std::int64_t> FaultyBackend::energy_mj(GpuId gpu) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kEnergy, gpu, lock)) return *found;
  return inner_->energy_mj(inside(gpu));
}

// No fault concerns it: nothing is decided by it.
Answer<BoardUse> FaultyBackend::board(GpuId gpu) {
  Lock lock(mutex_);
  return inner_->board(inside(gpu));
}

void FaultyBackend::planned_events(std::vector<HealthEvent>& events) {
  while (const auto rule = struck({7, 8, 9, 10, 19}, Call::kEvents, {})) {
    HealthEvent event{.gpu = rule->gpu.value_or(GpuId{0}),
                      .xid = rule->xid.value_or(default_xid(rule->number)),
                      .gi = rule->gi,
                      .generation = 0};
    if (rule->number == 10) needs_reset_.insert(event.gpu);
    const bool about_slice = rule->number == 8 || rule->number == 9 || rule->number == 19;
    const Answer<std::vector<Instance>> there = inner_->instances(inside(event.gpu));
    if (about_slice && there && !there->empty()) {
      if (!event.gi) event.gi = there->front().key.gi;
      for (const Instance& instance : *there) {
        if (instance.key.gi == *event.gi) event.generation = instance.generation;
      }
    }
    if (rule->number == 19 && event.gi) {
      const auto before = destroyed_.find({event.gpu, *event.gi});
      // Never the present one: a number that no slice has.
      event.generation = before != destroyed_.end() ? before->second : kOwnGenerations + ++made_;
    }
    events.push_back(event);
    if (rule->times < 0) return;  // one a poll
  }
}

Answer<std::vector<HealthEvent>> FaultyBackend::poll_events() {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kEvents, {}, lock)) return *found;
  if (struck({11}, Call::kEvents, {})) {
    return DeviceError{Fault::kUnknown, "waiting for events failed", {}};
  }
  Answer<std::vector<HealthEvent>> events = inner_->poll_events();
  if (!events) return events;
  for (HealthEvent& event : *events) event.gpu = outside(event.gpu);
  events->insert(events->end(), own_events_.begin(), own_events_.end());
  own_events_.clear();
  planned_events(*events);
  return events;
}

Done FaultyBackend::set_mig_mode(GpuId gpu, bool enabled) {
  Lock lock(mutex_);
  if (Trouble found = before(Call::kMode, gpu, lock)) return *found;
  return inner_->set_mig_mode(inside(gpu), enabled);
}

std::vector<EnvironmentVariable> FaultyBackend::job_environment(const InstanceKey& key) {
  return inner_->job_environment(inside(key));
}

}  // namespace partita::device
