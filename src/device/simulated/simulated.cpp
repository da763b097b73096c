#include "device/simulated/simulated.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "device/memory_reports.h"

namespace partita::device {
namespace {

// Driver name and PCI identity of each part of the catalogue, as on its SXM board (A30: PCIe).
struct Board {
  std::string_view key;
  std::string_view name;
  std::uint32_t pci;
  std::int64_t memory_mib;
};

constexpr std::array kBoards = std::to_array<Board>({
    {"a30-24gb", "NVIDIA A30", 0x20B710DE, 24576},
    {"a100-40gb", "NVIDIA A100-SXM4-40GB", 0x20B010DE, 40960},
    {"a100-80gb", "NVIDIA A100-SXM4-80GB", 0x20B210DE, 81920},
    {"h100-80gb", "NVIDIA H100 80GB HBM3", 0x233010DE, 81559},
    {"h200-141gb", "NVIDIA H200", 0x233510DE, 143771},
    {"b200-180gb", "NVIDIA B200", 0x290110DE, 183359},
});

const Board& board_of(const mig::GpuModel& model) {
  const auto found = std::ranges::find(kBoards, model.key, &Board::key);
  CHECK(found != kBoards.end());
  return *found;
}

DeviceError no_such_gpu(GpuId gpu) {
  return {Fault::kNotFound, fmt::format("there is no GPU {}", gpu.value), {}};
}

DeviceError gone(const InstanceKey& key) {
  return {Fault::kNotFound,
          fmt::format("GPU {} has no slice {} at GPU instance {} any more", key.gpu.value,
                      key.uuid.empty() ? "without a compute instance" : key.uuid, key.gi),
          {}};
}

Instance shown(GpuId gpu, const SimulatedInstance& instance) {
  const bool whole = !instance.uuid.empty();
  return {.key = {gpu, instance.gi, instance.uuid},
          .placement = instance.placement,
          .compute_instances = whole ? 1 : 0,
          .ci = whole ? std::optional<std::uint32_t>(0) : std::nullopt,
          .generation = instance.generation};
}

mig::Layout layout_on(const SimulatedGpu& gpu) {
  mig::Layout layout;
  for (const SimulatedInstance& instance : gpu.instances) layout.add(instance.placement);
  return layout;
}

// As drivers do: ids are used again, the smallest first; 0 is the whole GPU's.
std::uint32_t free_gi(const SimulatedGpu& gpu, const mig::Profile& profile) {
  if (profile.memory_slices == gpu.model->memory_slices) return 0;
  for (std::uint32_t gi = 1;; ++gi) {
    const bool taken = std::ranges::any_of(
        gpu.instances, [&](const SimulatedInstance& instance) { return instance.gi == gi; });
    if (!taken) return gi;
  }
}

SimulatedInstance* find_instance(SimulatedGpu& gpu, const InstanceKey& key) {
  for (SimulatedInstance& instance : gpu.instances) {
    if (instance.gi == key.gi && instance.uuid == key.uuid) return &instance;
  }
  return nullptr;
}

SimulatedInstance* find_generation(SimulatedGpu& gpu, std::uint64_t generation) {
  for (SimulatedInstance& instance : gpu.instances) {
    if (instance.generation == generation) return &instance;
  }
  return nullptr;
}

bool same_gpus(const SimulatedState& state, const SimulatedOptions& options) {
  return std::ranges::equal(state.gpus, options.gpus, {}, &SimulatedGpu::model);
}

// A lock on FILE.lock for as long as this lives. Another program that holds it is waited for: it
// does so for the length of a file write.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file) {
    if (file.empty()) return;
    fd_ = ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  ~FileLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

DeviceError in_use(const SimulatedGpu& gpu, const SimulatedInstance& instance,
                   const std::vector<ProcessUse>& processes) {
  DeviceError error{Fault::kInUse, {}, {}};
  for (const ProcessUse& process : processes) error.pids.push_back(process.pid);
  error.message = fmt::format("{} ({}) is in use by process{} {}",
                              mig::format_placement(*gpu.model, instance.placement), instance.uuid,
                              error.pids.size() == 1 ? "" : "es", fmt::join(error.pids, ", "));
  return error;
}

}  // namespace

Result<std::unique_ptr<SimulatedBackend>> SimulatedBackend::open(SimulatedOptions options,
                                                                 Clock& clock) {
  CHECK(!options.gpus.empty());
  std::unique_ptr<SimulatedBackend> backend(new SimulatedBackend(std::move(options), clock));
  // GPUs that nobody has cut, of a start that was refused perhaps, are no loss.
  const Done opened = backend->with_state([&](SimulatedState& state) {
    const bool uncut = std::ranges::all_of(
        state.gpus, [](const SimulatedGpu& gpu) { return gpu.instances.empty(); });
    if (uncut && !same_gpus(state, backend->options_)) {
      state = fresh_state(backend->options_, clock.now());
      for (SimulatedGpu& gpu : state.gpus) gpu.energy.milliwatts = backend->milliwatts(gpu);
    }
    return Done(Nothing{});
  });
  if (!opened) return Error{opened.error().message};
  if (!same_gpus(backend->state_, backend->options_)) {
    return Error{fmt::format("{} holds other GPUs than were asked for; remove it to start over",
                             backend->options_.state_file.string())};
  }
  return backend;
}

SimulatedBackend::SimulatedBackend(SimulatedOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock), state_(fresh_state(options_, clock.now())) {
  for (SimulatedGpu& gpu : state_.gpus) gpu.energy.milliwatts = milliwatts(gpu);
  if (!options_.memory_dir.empty()) return;
  if (!options_.state_file.empty()) {
    options_.memory_dir = options_.state_file.string() + ".memory";
    return;
  }
  std::string name = (std::filesystem::temp_directory_path() / "partita-memory-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) {
    options_.memory_dir = name;
    memory_dir_is_ours_ = true;
  }
}

SimulatedBackend::~SimulatedBackend() {
  std::error_code ignored;  // a temporary folder that stays is no reason to fail
  if (memory_dir_is_ours_) std::filesystem::remove_all(options_.memory_dir, ignored);
}

std::string SimulatedBackend::title() {
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < options_.gpus.size();) {
    std::size_t end = i;
    while (end < options_.gpus.size() && options_.gpus[end] == options_.gpus[i]) ++end;
    groups.push_back(fmt::format("{}x{}", end - i, options_.gpus[i]->key));
    i = end;
  }
  return fmt::format("simulated:{}", fmt::join(groups, ","));
}

Done SimulatedBackend::with_state(const Work& work) {
  const std::scoped_lock in_program(mutex_);
  if (options_.state_file.empty()) return work(state_);
  const FileLock on_machine(options_.state_file);
  Result<std::optional<SimulatedState>> read = read_state_file(options_.state_file);
  if (!read) return DeviceError{Fault::kUnknown, read.error().message, {}};
  const bool fresh = !read->has_value();
  if (!fresh) state_ = std::move(**read);
  const std::string before = fresh ? std::string() : format_state(state_);
  Done done = work(state_);
  if (!done || before == format_state(state_)) return done;
  const Status written = write_state_file(options_.state_file, state_);
  if (!written) return DeviceError{Fault::kUnknown, written.error().message, {}};
  return done;
}

// A board whose power stays as it was needs no counting: its counter can be brought up to date from
// the file at any later time, so reading it writes nothing.
Done SimulatedBackend::with_gpu(GpuId id, const GpuWork& work) {
  return with_state([&](SimulatedState& state) -> Done {
    if (id.value >= state.gpus.size()) return no_such_gpu(id);
    SimulatedGpu& gpu = state.gpus[id.value];
    Done done = work(state, gpu);
    const std::int64_t power = milliwatts(gpu);
    if (power != gpu.energy.milliwatts) {
      gpu.energy.count_to(clock_.now());
      gpu.energy.milliwatts = power;
    }
    return done;
  });
}

Done SimulatedBackend::with_instance(const InstanceKey& key, const InstanceWork& work) {
  return with_gpu(key.gpu, [&](SimulatedState&, SimulatedGpu& gpu) -> Done {
    SimulatedInstance* const found = find_instance(gpu, key);
    if (found == nullptr) return gone(key);
    return work(gpu, *found);
  });
}

Answer<std::vector<GpuInfo>> SimulatedBackend::gpus() {
  std::vector<GpuInfo> infos;
  const Done done = with_state([&](SimulatedState& state) {
    for (std::size_t i = 0; i < state.gpus.size(); ++i) {
      const SimulatedGpu& gpu = state.gpus[i];
      const Board& board = board_of(*gpu.model);
      infos.push_back({.id = {static_cast<std::uint32_t>(i)},
                       .uuid = gpu.uuid,
                       .name = std::string(board.name),
                       .pci = board.pci,
                       .memory_mib = board.memory_mib,
                       .mode = gpu.mig_enabled ? MigMode::kEnabled : MigMode::kDisabled,
                       // The catalogue's models live as long as the program.
                       .model = std::shared_ptr<const mig::GpuModel>(gpu.model, [](auto*) {}),
                       .boot_id = state.boot_id,
                       .monitored = true,
                       .trouble = {}});
    }
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return infos;
}

Answer<std::vector<Instance>> SimulatedBackend::instances(GpuId id) {
  std::vector<Instance> all;
  const Done done = with_gpu(id, [&](SimulatedState&, SimulatedGpu& gpu) {
    for (const SimulatedInstance& instance : gpu.instances) all.push_back(shown(id, instance));
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return all;
}

Done SimulatedBackend::make_gpu_instance(GpuId id, mig::Placement placement, Instance& made) {
  return with_gpu(id, [&](SimulatedState& state, SimulatedGpu& gpu) -> Done {
    if (!gpu.mig_enabled) {
      return DeviceError{
          Fault::kNotSupported, fmt::format("MIG mode is off on GPU {}", id.value), {}};
    }
    const mig::GpuModel& model = *gpu.model;
    if (placement.profile >= model.profiles.size() ||
        std::ranges::count(model.profiles[placement.profile].starts, placement.start) == 0) {
      return DeviceError{Fault::kInvalidArgument,
                         fmt::format("GPU {} ({}) has no such placement", id.value, model.key),
                         {}};
    }
    if (std::optional<std::string> reason = mig::why_not(model, layout_on(gpu), placement)) {
      return DeviceError{
          Fault::kInsufficientResources, fmt::format("GPU {}: {}", id.value, *reason), {}};
    }
    const SimulatedInstance instance{
        placement, free_gi(gpu, model.profiles[placement.profile]), {}, ++state.made};
    const auto later = std::ranges::find_if(gpu.instances, [&](const SimulatedInstance& other) {
      return other.placement.start > placement.start;
    });
    made = shown(id, *gpu.instances.insert(later, instance));
    return Nothing{};
  });
}

Done SimulatedBackend::make_compute_instance(Instance& made) {
  return with_gpu(made.key.gpu, [&](SimulatedState& state, SimulatedGpu& gpu) -> Done {
    SimulatedInstance* const instance = find_generation(gpu, made.generation);
    if (instance == nullptr) return gone(made.key);  // a reset came between
    instance->uuid = draw_uuid(state, "MIG-");
    made = shown(made.key.gpu, *instance);
    return Nothing{};
  });
}

// Two steps with the time between them, as the driver makes them: who is killed there leaves an
// orphan.
Answer<Instance> SimulatedBackend::create(GpuId gpu, mig::Placement placement) {
  Instance made;
  const Done first = make_gpu_instance(gpu, placement, made);
  if (!first) return first.error();
  wait_for(options_.gpus[gpu.value]->change_seconds[placement.profile].create);
  const Done second = make_compute_instance(made);
  if (!second) return second.error();
  return made;
}

Done SimulatedBackend::remove_compute_instance(const InstanceKey& key, mig::Placement& placement,
                                               std::uint64_t& generation) {
  return with_instance(key, [&](SimulatedGpu& gpu, SimulatedInstance& instance) -> Done {
    const std::vector<ProcessUse> holders = processes_on(instance);
    if (!holders.empty()) return in_use(gpu, instance, holders);
    std::error_code ignored;  // the report of a process that ended
    if (!instance.uuid.empty()) std::filesystem::remove(report_of(instance.uuid), ignored);
    instance.uuid.clear();
    placement = instance.placement;
    generation = instance.generation;
    return Nothing{};
  });
}

Done SimulatedBackend::remove_gpu_instance(const InstanceKey& key, std::uint64_t generation) {
  return with_gpu(key.gpu, [&](SimulatedState&, SimulatedGpu& gpu) -> Done {
    const SimulatedInstance* const instance = find_generation(gpu, generation);
    if (instance == nullptr) return gone(key);
    gpu.instances.erase(gpu.instances.begin() + (instance - gpu.instances.data()));
    return Nothing{};
  });
}

Done SimulatedBackend::destroy(const InstanceKey& key) {
  mig::Placement placement;
  std::uint64_t generation = 0;
  Done first = remove_compute_instance(key, placement, generation);
  if (!first) return first;
  wait_for(options_.gpus[key.gpu.value]->change_seconds[placement.profile].destroy);
  return remove_gpu_instance(key, generation);
}

void SimulatedBackend::wait_for(double seconds) {
  const Micros span = micros_from_seconds(seconds * options_.change_time);
  if (span > Micros{}) clock_.sleep(span);
}

Answer<MemoryUse> SimulatedBackend::memory(const InstanceKey& key) {
  MemoryUse use;
  const Done done = with_instance(key, [&](SimulatedGpu& gpu, SimulatedInstance& instance) {
    const mig::Profile& profile = gpu.model->profiles[instance.placement.profile];
    use.total_mib = static_cast<std::int64_t>(std::floor(profile.memory_gib * 1024));
    for (const ProcessUse& process : processes_on(instance)) use.used_mib += process.used_mib;
    use.used_mib = std::min(use.used_mib, use.total_mib);
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return use;
}

Answer<std::vector<ProcessUse>> SimulatedBackend::processes(const InstanceKey& key) {
  std::vector<ProcessUse> all;
  const Done done = with_instance(key, [&](SimulatedGpu&, SimulatedInstance& instance) {
    all = processes_on(instance);
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return all;
}

Answer<std::int64_t> SimulatedBackend::power_mw(GpuId id) {
  std::int64_t power = 0;
  const Done done = with_gpu(id, [&](SimulatedState&, SimulatedGpu& gpu) {
    power = milliwatts(gpu);
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return power;
}

// As warm as boards of this kind are: 30 degrees when they idle, 75 when all of them is busy.
Answer<BoardUse> SimulatedBackend::board(GpuId id) {
  BoardUse use;
  const Done done = with_gpu(id, [&](SimulatedState&, SimulatedGpu& gpu) {
    const std::vector<double>& watts = gpu.model->power_curves.front().watts;
    const double above = static_cast<double>(milliwatts(gpu)) / 1000 - watts.front();
    const double share = watts.back() > watts.front() ? above / (watts.back() - watts.front()) : 0;
    use.utilisation = static_cast<double>(busy_slices(gpu)) / gpu.model->compute_slices;
    use.temperature_c = std::round(30 + 45 * share);
    use.power_limit_w = watts.back();
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return use;
}

Answer<std::int64_t> SimulatedBackend::energy_mj(GpuId id) {
  std::int64_t energy = 0;
  const Done done = with_gpu(id, [&](SimulatedState&, SimulatedGpu& gpu) {
    EnergyCounter counter = gpu.energy;
    counter.count_to(clock_.now());
    energy = counter.millijoules;
    return Done(Nothing{});
  });
  if (!done) return done.error();
  return energy;
}

Answer<std::vector<HealthEvent>> SimulatedBackend::poll_events() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(events_, {});
}

Done SimulatedBackend::set_mig_mode(GpuId id, bool enabled) {
  return with_gpu(id, [&](SimulatedState&, SimulatedGpu& gpu) -> Done {
    for (const SimulatedInstance& instance : gpu.instances) {
      const std::vector<ProcessUse> holders = processes_on(instance);
      if (!holders.empty()) return in_use(gpu, instance, holders);
    }
    if (gpu.mig_enabled != enabled) gpu.instances.clear();
    gpu.mig_enabled = enabled;
    return Nothing{};
  });
}

std::vector<EnvironmentVariable> SimulatedBackend::job_environment(const InstanceKey& key) {
  std::error_code ignored;  // a process that cannot write its report is not seen, as documented
  std::filesystem::create_directories(options_.memory_dir, ignored);
  const Answer<MemoryUse> use = memory(key);
  if (!use) return {};
  return {{"PARTITA_SIM_MEMORY_FILE", report_of(key.uuid).string()},
          {"PARTITA_SIM_MEMORY_MIB", fmt::format("{}", use->total_mib)}};
}

void SimulatedBackend::put_process(const InstanceKey& key, ProcessUse process) {
  const Done done = with_gpu(key.gpu, [&](SimulatedState&, SimulatedGpu& gpu) {
    CHECK(find_instance(gpu, key) != nullptr);
    put_[key.uuid][process.pid] = process.used_mib;
    return Done(Nothing{});
  });
  CHECK(done.ok());
}

void SimulatedBackend::end_process(const InstanceKey& key, int pid) {
  const Done done = with_gpu(key.gpu, [&](SimulatedState&, SimulatedGpu&) {
    put_[key.uuid].erase(pid);
    return Done(Nothing{});
  });
  CHECK(done.ok());
}

Answer<Instance> SimulatedBackend::put_orphan(GpuId gpu, mig::Placement placement) {
  Instance made;
  const Done done = make_gpu_instance(gpu, placement, made);
  if (!done) return done.error();
  return made;
}

Status SimulatedBackend::reboot() {
  const Done done = with_state([&](SimulatedState& state) {
    state.boot_id = draw_uuid(state, "");
    for (SimulatedGpu& gpu : state.gpus) {
      gpu.instances.clear();
      gpu.energy = {};
      gpu.energy.until = clock_.now();
      gpu.energy.milliwatts = milliwatts(gpu);
    }
    put_.clear();
    events_.clear();
    return Done(Nothing{});
  });
  if (!done) return Error{done.error().message};
  return {};
}

void SimulatedBackend::add_event(HealthEvent event) {
  const std::scoped_lock lock(mutex_);
  events_.push_back(event);
}

std::vector<ProcessUse> SimulatedBackend::processes_on(const SimulatedInstance& instance) const {
  if (instance.uuid.empty()) return {};
  std::vector<ProcessUse> all = read_memory_report(report_of(instance.uuid));
  const auto put = put_.find(instance.uuid);
  if (put == put_.end()) return all;
  for (const auto& [pid, mib] : put->second) all.push_back({pid, mib});
  std::ranges::sort(all, {}, &ProcessUse::pid);
  return all;
}

int SimulatedBackend::busy_slices(const SimulatedGpu& gpu) const {
  int busy = 0;
  for (const SimulatedInstance& instance : gpu.instances) {
    if (processes_on(instance).empty()) continue;
    busy += gpu.model->profiles[instance.placement.profile].compute_slices;
  }
  return busy;
}

std::int64_t SimulatedBackend::milliwatts(const SimulatedGpu& gpu) const {
  const std::vector<double>& watts = gpu.model->power_curves.front().watts;
  return std::llround(watts.at(static_cast<std::size_t>(busy_slices(gpu))) * 1000);
}

std::filesystem::path SimulatedBackend::report_of(const std::string& uuid) const {
  return options_.memory_dir / uuid;
}

}  // namespace partita::device
