#include "fake_world.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <thread>

namespace partita::fakes {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

int number(const std::string& text, int otherwise = -1) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "name=value" among `words`, or `otherwise`.
std::string named(const std::vector<std::string>& words, std::string_view name,
                  std::string_view otherwise) {
  for (const std::string& word : words) {
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
      return word.substr(name.size() + 1);
    }
  }
  return std::string(otherwise);
}

// Where the driver numbers GPU instances: by size, then by place.
unsigned gi_id(const FakePart& part, const FakeProfile& profile, unsigned start) {
  if (profile.memory_slices == part.memory_slices) return 0;
  if (profile.memory_slices == 4) return 1 + start / 4;
  if (profile.memory_slices == 2) return 3 + start / 2;
  return 7 + start;
}

}  // namespace

FakeWorld& FakeWorld::instance() {
  // Never destroyed: a call that hangs may still be in it when the program ends.
  static FakeWorld& world = *new FakeWorld;
  return world;
}

bool FakeWorld::run(std::string_view commands) {
  while (!commands.empty()) {
    const std::size_t end = commands.find_first_of(";\n");
    const std::vector<std::string> words = words_of(commands.substr(0, end));
    commands = end == std::string_view::npos ? "" : commands.substr(end + 1);
    if (!words.empty() && !command(words)) return false;
  }
  return true;
}

bool FakeWorld::command(const std::vector<std::string>& words) {
  const std::string& verb = words.front();
  if (verb == "reset") return reset(words);
  if (verb == "fail" || verb == "delay" || verb == "calm") return plan(words);
  if (verb == "ci-device" && words.size() == 2) {
    ci_names_parent = words[1] == "parent";
    return true;
  }
  if (verb == "activation" && words.size() == 2) {
    activation = number(words[1]);
    return true;
  }
  if (verb == "event" && words.size() >= 3) {
    const auto gpu = static_cast<std::size_t>(number(words[1]));
    if (gpu >= gpus.size()) return false;
    nvml::EventData data = {};
    data.device = reinterpret_cast<nvml::Device>(gpus[gpu].get());
    data.event_type = nvml::kXidCriticalError;
    data.event_data = static_cast<unsigned long long>(number(words[2]));
    data.gpu_instance_id =
        words.size() > 3 ? static_cast<unsigned>(number(words[3])) : nvml::kNoInstanceId;
    data.compute_instance_id = words.size() > 3 ? 0 : nvml::kNoInstanceId;
    events.push_back(data);
    return true;
  }
  return words.size() >= 3 && (change_gpu(words) || change_slice(words));
}

// reset gpus=h200-141gb,a30-24gb mig=on|off
bool FakeWorld::reset(const std::vector<std::string>& words) {
  gpus.clear();
  events.clear();
  plans_.clear();
  ci_names_parent = false;
  activation = nvml::kSuccess;
  std::string list = named(words, "gpus", "a100-40gb") + ",";
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const FakePart* const part = find_part(list.substr(0, comma));
    list.erase(0, comma + 1);
    if (part == nullptr) return false;
    auto gpu = std::make_unique<FakeGpu>();
    gpu->part = part;
    gpu->index = static_cast<unsigned>(gpus.size());
    gpu->uuid = uuid("GPU-");
    gpu->mig = named(words, "mig", "on") == "on";
    gpus.push_back(std::move(gpu));
  }
  return true;
}

// fail SYMBOL CODE [times=N] [after=N] | delay SYMBOL MILLISECONDS [times=N] [after=N] | calm
bool FakeWorld::plan(const std::vector<std::string>& words) {
  if (words.front() == "calm") {
    plans_.clear();
    return true;
  }
  if (words.size() < 3) return false;
  FakePlan plan;
  plan.symbol = words[1];
  if (words.front() == "fail") plan.code = number(words[2]);
  if (words.front() == "delay") plan.delay_ms = number(words[2]);
  plan.times = number(named(words, "times", "-1"));
  plan.after = number(named(words, "after", "0"));
  plans_.push_back(plan);
  return true;
}

// mig GPU on|off | profile-ids GPU OFFSET | make GPU PROFILE_ID START [bare] | reboot GPU now
bool FakeWorld::change_gpu(const std::vector<std::string>& words) {
  const auto index = static_cast<std::size_t>(number(words[1]));
  if (index >= gpus.size()) return false;
  FakeGpu& gpu = *gpus[index];
  if (words[0] == "mig") {
    gpu.mig = words[2] == "on";
    return true;
  }
  if (words[0] == "profile-ids") {
    gpu.id_offset = static_cast<unsigned>(number(words[2]));
    return true;
  }
  if (words[0] == "reboot") {
    for (const auto& instance : gpu.instances) {
      instance->alive = false;
      for (const auto& compute : instance->compute) compute->alive = false;
    }
    return true;
  }
  if (words[0] != "make" || words.size() < 4) return false;
  const auto profile_id = static_cast<unsigned>(number(words[2]));
  const auto start = static_cast<unsigned>(number(words[3]));
  FakeGpuInstance* made = nullptr;
  for (const FakeProfile& profile : gpu.part->profiles) {
    if (profile.id + gpu.id_offset != profile_id) continue;
    if (make(gpu, profile_id, {start, profile.memory_slices}, &made) != nvml::kSuccess) {
      return false;
    }
  }
  if (made == nullptr) return false;
  if (words.size() > 4 && words[4] == "bare") return true;
  FakeComputeInstance* compute = nullptr;
  return fill(*made, made->profile->compute_slices, &compute) == nvml::kSuccess;
}

// process GPU GI PID MIB | end GPU GI PID | leak GPU GI on|off | linger GPU GI TIMES |
// vanish GPU GI
bool FakeWorld::change_slice(const std::vector<std::string>& words) {
  FakeGpuInstance* const instance = living(words[1], words[2]);
  if (instance == nullptr) return false;
  if (words[0] == "vanish") {
    instance->alive = false;
    for (const auto& compute : instance->compute) compute->alive = false;
    return true;
  }
  if (words.size() < 4) return false;
  if (words[0] == "leak") {
    instance->leaked = words[3] == "on";
    return true;
  }
  if (words[0] == "linger") {
    instance->lingers = number(words[3]);
    return true;
  }
  for (const auto& compute : instance->compute) {
    if (!compute->alive) continue;
    const auto pid = static_cast<unsigned>(number(words[3]));
    if (words[0] == "end") compute->processes.erase(pid);
    if (words[0] == "process" && words.size() > 4) {
      compute->processes[pid] = static_cast<unsigned long long>(number(words[4]));
    }
    return words[0] == "end" || words.size() > 4;
  }
  return false;
}

FakeGpuInstance* FakeWorld::living(const std::string& gpu, const std::string& gi) {
  const auto index = static_cast<std::size_t>(number(gpu));
  if (index >= gpus.size()) return nullptr;
  for (const auto& instance : gpus[index]->instances) {
    if (instance->alive && static_cast<int>(instance->id) == number(gi)) return instance.get();
  }
  return nullptr;
}

nvml::Return FakeWorld::enter(const char* symbol) {
  int delay_ms = 0;
  nvml::Return code = nvml::kSuccess;
  {
    const std::scoped_lock lock(mutex);
    for (FakePlan& plan : plans_) {
      if (plan.symbol != "*" && plan.symbol != symbol) continue;
      if (plan.after > 0) {
        --plan.after;
        continue;
      }
      if (plan.times == 0) continue;
      if (plan.times > 0) --plan.times;
      delay_ms += plan.delay_ms;
      if (plan.code) code = *plan.code;
    }
  }
  if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
  return code;
}

FakeGpu* FakeWorld::gpu_of(nvml::Device device) {
  for (const auto& gpu : gpus) {
    if (reinterpret_cast<nvml::Device>(gpu.get()) == device) return gpu.get();
  }
  return nullptr;
}

FakeGpuInstance* FakeWorld::find(nvml::GpuInstance handle) {
  for (const auto& gpu : gpus) {
    for (const auto& instance : gpu->instances) {
      if (reinterpret_cast<nvml::GpuInstance>(instance.get()) != handle) continue;
      return instance->alive ? instance.get() : nullptr;
    }
  }
  return nullptr;
}

FakeComputeInstance* FakeWorld::find(nvml::ComputeInstance handle) {
  for (const auto& gpu : gpus) {
    for (const auto& instance : gpu->instances) {
      for (const auto& compute : instance->compute) {
        if (reinterpret_cast<nvml::ComputeInstance>(compute.get()) != handle) continue;
        return compute->alive ? compute.get() : nullptr;
      }
    }
  }
  return nullptr;
}

// A MIG device's handle is its compute instance's.
FakeComputeInstance* FakeWorld::slice_of(nvml::Device device) {
  return find(reinterpret_cast<nvml::ComputeInstance>(device));
}

nvml::Return FakeWorld::make(FakeGpu& gpu, unsigned profile_id, nvml::GpuInstancePlacement place,
                             FakeGpuInstance** made) {
  if (!gpu.mig) return nvml::kNotSupported;
  const FakeProfile* profile = nullptr;
  for (const FakeProfile& candidate : gpu.part->profiles) {
    if (candidate.id + gpu.id_offset == profile_id) profile = &candidate;
  }
  if (profile == nullptr || place.size != profile->memory_slices) return nvml::kInvalidArgument;
  bool legal = false;
  for (const unsigned start : profile->starts) legal = legal || start == place.start;
  if (!legal) return nvml::kInvalidArgument;
  for (const auto& other : gpu.instances) {
    if (!other->alive) continue;
    const bool apart = other->start + other->profile->memory_slices <= place.start ||
                       place.start + place.size <= other->start;
    if (!apart) return nvml::kInsufficientResources;
    if (profile->media && other->profile->media) return nvml::kInsufficientResources;
  }
  auto instance = std::make_unique<FakeGpuInstance>();
  instance->gpu = &gpu;
  instance->id = gi_id(*gpu.part, *profile, place.start);
  instance->profile = profile;
  instance->start = place.start;
  *made = instance.get();
  gpu.instances.push_back(std::move(instance));
  return nvml::kSuccess;
}

// Compute instance profiles are known by their slices.
nvml::Return FakeWorld::fill(FakeGpuInstance& instance, unsigned profile_id,
                             FakeComputeInstance** made) {
  const unsigned slices = profile_id;
  unsigned used = 0;
  unsigned id = 0;
  for (const auto& other : instance.compute) {
    if (!other->alive) continue;
    used += other->slices;
    if (other->id >= id) id = other->id + 1;
  }
  if (slices == 0 || slices > instance.profile->compute_slices) return nvml::kInvalidArgument;
  if (used + slices > instance.profile->compute_slices) return nvml::kInsufficientResources;
  auto compute = std::make_unique<FakeComputeInstance>();
  compute->parent = &instance;
  compute->id = id;
  compute->profile_id = profile_id;
  compute->slices = slices;
  compute->start = used;
  compute->mig_index = free_mig_index(*instance.gpu);
  compute->uuid = uuid("MIG-");
  *made = compute.get();
  instance.compute.push_back(std::move(compute));
  return nvml::kSuccess;
}

unsigned FakeWorld::free_mig_index(const FakeGpu& gpu) const {
  for (unsigned index = 0;; ++index) {
    bool taken = false;
    for (const auto& instance : gpu.instances) {
      for (const auto& compute : instance->compute) {
        taken = taken || (compute->alive && compute->mig_index == index);
      }
    }
    if (!taken) return index;
  }
}

unsigned FakeWorld::power_mw(const FakeGpu& gpu) const {
  unsigned busy = 0;
  for (const auto& instance : gpu.instances) {
    for (const auto& compute : instance->compute) {
      if (compute->alive && !compute->processes.empty()) busy += compute->slices;
    }
  }
  return gpu.part->idle_mw + busy * gpu.part->slice_mw;
}

// Idle power since the library was loaded: a counter that only grows.
unsigned long long FakeWorld::energy_mj(const FakeGpu& gpu) {
  static const auto begin = std::chrono::steady_clock::now();
  const auto span = std::chrono::steady_clock::now() - begin;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
  return 1'000'000ULL + static_cast<unsigned long long>(ms) * gpu.part->idle_mw / 1000;
}

std::string FakeWorld::uuid(std::string_view prefix) {
  std::array<char, 64> text = {};
  const int length =
      std::snprintf(text.data(), text.size(), "fa4e0000-0000-5000-a000-%012llx", ++uuids_);
  return std::string(prefix) + std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace partita::fakes
