#include "daemon/device_workers.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/failpoint.h"

namespace partita::daemon {
namespace {

using Steady = std::chrono::steady_clock;

// A GPU that has not answered for so long is not to be used. Slices take a fifth of a second to
// make, but drivers have been seen to take much longer.
constexpr std::chrono::seconds kReadingMax{10};
constexpr std::chrono::seconds kChangeMax{60};

// A GPU that answers so is not to be used; other faults concern one call.
bool is_out(device::Fault fault) {
  switch (fault) {
    case device::Fault::kGpuLost:
    case device::Fault::kResetRequired:
    case device::Fault::kDriverGone:
    case device::Fault::kVersionMismatch:
    case device::Fault::kTimeout:
    case device::Fault::kNotSupported:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string without_name(const std::string& sentence, GpuId gpu) {
  const std::string name = fmt::format("GPU {}: ", gpu.value);
  return sentence.starts_with(name) ? sentence.substr(name.size()) : sentence;
}

DeviceWorkers::DeviceWorkers(device::Backend& backend, std::vector<GpuId> gpus)
    : backend_(backend), gpus_(std::move(gpus)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_ >= 0);
  boards_.resize(gpus_.size());
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    workers_.push_back(std::make_unique<Worker>());
  }
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    workers_[i]->thread = std::thread([this, i] { run(i); });
  }
}

DeviceWorkers::~DeviceWorkers() {
  for (const auto& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    worker->stop = true;
    worker->more.notify_one();
  }
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
  ::close(wake_);
}

void DeviceWorkers::order(GpuId gpu, DeviceCommand command) {
  Worker& worker = *workers_[gpu.value];
  const std::lock_guard lock(worker.mutex);
  worker.commands.push_back(std::move(command));
  worker.more.notify_one();
}

void DeviceWorkers::survey_idle() {
  for (std::uint32_t i = 0; i < workers_.size(); ++i) {
    const auto& worker = workers_[i];
    const std::lock_guard lock(worker->mutex);
    if (worker->busy) tell_if_overdue(i);
    if (worker->busy || !worker->commands.empty()) continue;
    worker->commands.emplace_back(Survey{});
    worker->more.notify_one();
  }
}

// REQUIRES: the worker is locked. It is told as usable again by the survey that succeeds.
void DeviceWorkers::tell_if_overdue(std::uint32_t index) {
  Worker& worker = *workers_[index];
  const auto most = worker.changes ? kChangeMax : kReadingMax;
  if (!worker.usable || Steady::now() - worker.busy_since < most) return;
  worker.usable = false;
  const std::string why = fmt::format("no answer for {} s", most.count());
  give(control::Input(control::GpuHealth{GpuId{index}, false, why, false}));
  // What waits behind the call is not begun any more, or it would be done when nobody wants it.
  for (const DeviceCommand& command : std::exchange(worker.commands, {})) refuse(command, why);
}

void DeviceWorkers::refuse(const DeviceCommand& command, const std::string& why) {
  const device::DeviceError error{device::Fault::kTimeout, why, {}};
  if (const auto* each = std::get_if<control::Create>(&command)) {
    give(control::Input(control::CreateDone{each->gpu, each->placement, {}, error}));
  }
  if (const auto* each = std::get_if<control::Destroy>(&command)) {
    give(control::Input(control::DestroyDone{each->gpu, each->placement, false, error}));
  }
}

bool DeviceWorkers::stop_within(std::chrono::milliseconds time) {
  for (const auto& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    worker->stop = true;
    worker->more.notify_all();
  }
  const auto until = Steady::now() + time;
  bool all = true;
  for (const auto& worker : workers_) {
    std::unique_lock lock(worker->mutex);
    const bool ended = worker->more.wait_until(lock, until, [&] { return worker->ended; });
    lock.unlock();
    if (ended) worker->thread.join();
    all = all && ended;
  }
  return all;
}

std::vector<control::Input> DeviceWorkers::take_results() {
  std::uint64_t count = 0;
  if (::read(wake_, &count, sizeof count) < 0) count = 0;
  const std::lock_guard lock(results_mutex_);
  return std::exchange(results_, {});
}

device::BoardUse DeviceWorkers::board(GpuId gpu) const {
  const std::lock_guard lock(boards_mutex_);
  return boards_[gpu.value];
}

void DeviceWorkers::give(control::Input result) {
  {
    const std::lock_guard lock(results_mutex_);
    results_.push_back(std::move(result));
  }
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) return;  // it is full, so it is readable
}

void DeviceWorkers::run(std::uint32_t index) {
  Worker& worker = *workers_[index];
  for (;;) {
    std::unique_lock lock(worker.mutex);
    worker.busy = false;
    worker.more.wait(lock, [&] { return worker.stop || !worker.commands.empty(); });
    if (worker.stop) {
      worker.ended = true;
      worker.more.notify_all();
      return;
    }
    const DeviceCommand command = std::move(worker.commands.front());
    worker.commands.pop_front();
    worker.busy = true;
    worker.changes = !std::holds_alternative<Survey>(command);
    worker.busy_since = Steady::now();
    lock.unlock();
    carry_out(index, command);
    FAILPOINT(device_reported);
  }
}

void DeviceWorkers::carry_out(std::uint32_t index, const DeviceCommand& command) {
  if (const auto* each = std::get_if<control::Create>(&command)) return create(index, *each);
  if (const auto* each = std::get_if<control::Destroy>(&command)) return destroy(index, *each);
  survey(index);
  // The events of all GPUs come through one call; whoever comes by makes it, so that a GPU that
  // hangs keeps no other's from us.
  const std::unique_lock alone(events_mutex_, std::try_to_lock);
  if (alone.owns_lock()) poll_events();
}

void DeviceWorkers::create(std::uint32_t index, const control::Create& create) {
  FAILPOINT(device_before_create);
  const device::Answer<device::Instance> made = backend_.create(gpus_[index], create.placement);
  FAILPOINT(device_after_create);
  control::CreateDone done{GpuId{index}, create.placement, {}, {}};
  if (made) {
    done.instance = *made;
  } else {
    done.error = made.error();
    if (is_out(made.fault())) tell_health(index, false, made.error().message);
  }
  give(control::Input(std::in_place_type<control::CreateDone>, std::move(done)));
}

void DeviceWorkers::destroy(std::uint32_t index, const control::Destroy& destroy) {
  FAILPOINT(device_before_destroy);
  const device::Done gone = backend_.destroy(destroy.instance);
  FAILPOINT(device_after_destroy);
  control::DestroyDone done{GpuId{index}, destroy.placement, false, {}};
  done.gone = gone.ok() || gone.fault() == device::Fault::kNotFound;
  if (!gone.ok()) done.error = gone.error();
  if (!done.gone && is_out(gone.fault())) tell_health(index, false, gone.error().message);
  give(control::Input(std::in_place_type<control::DestroyDone>, std::move(done)));
}

void DeviceWorkers::tell_health(std::uint32_t index, bool usable, const std::string& why) {
  {
    const std::lock_guard lock(workers_[index]->mutex);
    if (workers_[index]->usable == usable) return;
    workers_[index]->usable = usable;
  }
  give(control::Input(
      control::GpuHealth{GpuId{index}, usable, without_name(why, gpus_[index]), false}));
}

void DeviceWorkers::survey(std::uint32_t index) {
  const GpuId gpu = gpus_[index];
  const device::Answer<std::vector<device::Instance>> instances = backend_.instances(gpu);
  if (!instances) {
    if (is_out(instances.fault())) tell_health(index, false, instances.error().message);
    return;
  }
  control::Reading reading;
  reading.gpu = GpuId{index};
  for (const device::Instance& instance : *instances) {
    if (instance.orphan()) continue;
    const device::Answer<device::MemoryUse> memory = backend_.memory(instance.key);
    if (!memory && is_out(memory.fault())) {
      return tell_health(index, false, memory.error().message);
    }
    if (!memory) continue;
    reading.slices.push_back({instance.placement.start, instance.key.uuid,
                              static_cast<double>(memory->used_mib) / 1024});
  }
  if (const auto power = backend_.power_mw(gpu)) {
    reading.power_w = static_cast<double>(*power) / 1000;
  }
  if (const auto energy = backend_.energy_mj(gpu)) {
    reading.energy_j = static_cast<double>(*energy) / 1000;
  }
  if (const auto board = backend_.board(gpu)) {
    const std::lock_guard lock(boards_mutex_);
    boards_[index] = *board;
  }
  tell_health(index, true, "");
  give(control::Input(std::in_place_type<control::Reading>, std::move(reading)));
  give(control::Input(control::Inventory{GpuId{index}, *instances}));
}

// Xids. Not to be heard of is not to be healthy, so that is said too.
void DeviceWorkers::poll_events() {
  const device::Answer<std::vector<device::HealthEvent>> events = backend_.poll_events();
  if (events.ok() != monitored_) {
    monitored_ = events.ok();
    give(control::Input(control::Remark{
        monitored_ ? "monitored" : "unmonitored",
        monitored_ ? "events of the GPUs are heard again" : events.error().message}));
  }
  if (!events) return;
  for (const device::HealthEvent& event : *events) {
    const auto at = std::ranges::find(gpus_, event.gpu);
    if (at == gpus_.end()) continue;
    const GpuId gpu{static_cast<std::uint32_t>(at - gpus_.begin())};
    const std::string why = fmt::format("Xid {}", event.xid);
    const device::XidClass kind = device::class_of_xid(event.xid);
    const bool whole = kind == device::XidClass::kUncontained || kind == device::XidClass::kGpuLost;
    const bool later = kind == device::XidClass::kResetPending;
    if (whole || later) {
      give(control::Input(control::GpuHealth{gpu, false, why + ": it needs a reset", later}));
    } else {
      give(control::Input(control::Remark{"xid", fmt::format("GPU {} {}", gpu.value, why)}));
    }
    if (kind != device::XidClass::kContained || !event.gi) continue;
    const device::Answer<std::vector<device::Instance>> instances = backend_.instances(event.gpu);
    if (!instances) continue;
    for (const device::Instance& instance : *instances) {
      const bool same = instance.key.gi == *event.gi && instance.generation == event.generation;
      if (!same) continue;  // a late word about a slice that was there before
      give(control::Input(control::SliceFault{gpu, instance.placement.start, why}));
    }
  }
}

}  // namespace partita::daemon
