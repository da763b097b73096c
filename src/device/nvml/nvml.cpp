#include "device/nvml/nvml.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace partita::device {
namespace {

constexpr GpuId kAllGpus = {};  // not a valid id

DeviceError no_answer(GpuId gpu) {
  const std::string who = gpu.valid() ? fmt::format("GPU {}", gpu.value) : "NVML";
  return {Fault::kTimeout, who + " does not answer", {}};
}

// Runs `question` in the worker. What it touches is shared with it, since it may outlive the call.
template <typename T>
Answer<T> run_in(DeadlineWorker& worker, GpuId gpu, std::function<Answer<T>()> question) {
  const auto slot = std::make_shared<std::optional<Answer<T>>>();
  const bool done =
      worker.run([slot, question = std::move(question)] { slot->emplace(question()); });
  if (!done) return no_answer(gpu);
  return std::move(**slot);
}

}  // namespace

NvmlBackend::NvmlBackend(NvmlOptions options) : options_(std::move(options)) {}

NvmlBackend::~NvmlBackend() {
  bool hung = false;
  for (const auto& [gpu, worker] : workers_) hung = hung || worker->suspect();
  workers_.clear();
  if (session_ != nullptr && !hung) session_->end();
}

DeadlineWorker& NvmlBackend::worker_of(GpuId gpu) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<DeadlineWorker>& worker = workers_[gpu.value];
  if (worker == nullptr) {
    worker = std::make_unique<DeadlineWorker>(options_.deadline, options_.retry_after);
  }
  return *worker;
}

Answer<std::shared_ptr<NvmlSession>> NvmlBackend::session() {
  {
    const std::scoped_lock lock(mutex_);
    if (session_ != nullptr) return session_;
  }
  using Pointer = std::shared_ptr<NvmlSession>;
  const std::function<Answer<Pointer>()> connect = [options = options_]() -> Answer<Pointer> {
    const Answer<std::shared_ptr<const NvmlLibrary>> library = NvmlLibrary::load(options.library);
    if (!library) return library.error();
    auto session = std::make_shared<NvmlSession>(*library, options.pauses);
    const Done begun = session->begin();
    if (!begun) return begun.error();
    // Watched from the start, so that no event of a later slice is missed. An error shows again
    // at the first poll.
    const Answer<std::vector<HealthEvent>> ignored = session->poll_events();
    (void)ignored;
    return session;
  };
  Answer<Pointer> connected = run_in(worker_of(kAllGpus), kAllGpus, connect);
  if (!connected) return connected;
  const std::scoped_lock lock(mutex_);
  if (session_ == nullptr) session_ = *connected;
  return session_;
}

template <typename T>
Answer<T> NvmlBackend::ask(GpuId gpu, std::function<Answer<T>(NvmlSession&)> question) {
  Answer<std::shared_ptr<NvmlSession>> open = session();
  if (!open) return open.error();
  Answer<T> answer =
      run_in<T>(worker_of(gpu), gpu,
                [session = *open, question = std::move(question)] { return question(*session); });
  if (!answer && answer.fault() == Fault::kDriverGone) {
    const std::scoped_lock lock(mutex_);
    if (session_ == *open) session_ = nullptr;  // the next call starts anew
  }
  return answer;
}

std::string NvmlBackend::title() {
  const Answer<std::string> version =
      ask<std::string>(kAllGpus, [](NvmlSession& session) { return session.driver_version(); });
  return version ? fmt::format("nvml, driver {}", *version) : "nvml";
}

GpuInfo NvmlBackend::known(GpuId gpu, DeviceError trouble) {
  const std::scoped_lock lock(mutex_);
  const auto last = last_known_.find(gpu.value);
  GpuInfo info = last != last_known_.end() ? last->second : GpuInfo{};
  info.id = gpu;
  info.trouble = std::move(trouble);
  return info;
}

Answer<std::vector<GpuInfo>> NvmlBackend::gpus() {
  const Answer<unsigned> count =
      ask<unsigned>(kAllGpus, [](NvmlSession& session) { return session.gpu_count(); });
  if (!count) return count.error();
  std::vector<GpuInfo> infos;
  for (unsigned i = 0; i < *count; ++i) {
    const GpuId id{i};
    Answer<GpuInfo> info = ask<GpuInfo>(id, [id](NvmlSession& s) { return s.gpu(id); });
    if (!info) {
      const Fault fault = info.fault();
      // These are about the machine, not about this GPU.
      if (fault == Fault::kDriverGone || fault == Fault::kNoPermission ||
          fault == Fault::kVersionMismatch) {
        return info.error();
      }
      infos.push_back(known(id, info.error()));
      continue;
    }
    const std::scoped_lock lock(mutex_);
    last_known_[i] = *info;
    infos.push_back(std::move(*info));
  }
  return infos;
}

Answer<std::vector<Instance>> NvmlBackend::instances(GpuId gpu) {
  return ask<std::vector<Instance>>(gpu, [gpu](NvmlSession& s) { return s.instances(gpu); });
}

Answer<Instance> NvmlBackend::create(GpuId gpu, mig::Placement placement) {
  return ask<Instance>(gpu, [gpu, placement](NvmlSession& s) { return s.create(gpu, placement); });
}

Done NvmlBackend::destroy(const InstanceKey& key) {
  return ask<Nothing>(key.gpu, [key](NvmlSession& s) { return s.destroy(key); });
}

Answer<MemoryUse> NvmlBackend::memory(const InstanceKey& key) {
  return ask<MemoryUse>(key.gpu, [key](NvmlSession& s) { return s.memory(key); });
}

Answer<std::vector<ProcessUse>> NvmlBackend::processes(const InstanceKey& key) {
  return ask<std::vector<ProcessUse>>(key.gpu, [key](NvmlSession& s) { return s.processes(key); });
}

Answer<std::int64_t> NvmlBackend::power_mw(GpuId gpu) {
  return ask<std::int64_t>(gpu, [gpu](NvmlSession& s) { return s.power_mw(gpu); });
}

Answer<std::int64_t> NvmlBackend::energy_mj(GpuId gpu) {
  return ask<std::int64_t>(gpu, [gpu](NvmlSession& s) { return s.energy_mj(gpu); });
}

Answer<BoardUse> NvmlBackend::board(GpuId gpu) {
  return ask<BoardUse>(gpu, [gpu](NvmlSession& s) { return s.board(gpu); });
}

Answer<std::vector<HealthEvent>> NvmlBackend::poll_events() {
  return ask<std::vector<HealthEvent>>(kAllGpus, [](NvmlSession& s) { return s.poll_events(); });
}

Done NvmlBackend::set_mig_mode(GpuId gpu, bool enabled) {
  return ask<Nothing>(gpu, [gpu, enabled](NvmlSession& s) { return s.set_mig_mode(gpu, enabled); });
}

std::vector<EnvironmentVariable> NvmlBackend::job_environment(const InstanceKey&) {
  return {};
}

}  // namespace partita::device
