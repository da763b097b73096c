// SimulatedBackend: MIG GPUs of the catalogue on any machine. Memory and power behave as the model
// says; making and destroying slices takes the model's time on the clock that is handed in.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "device/backend.h"
#include "device/simulated/simulated_state.h"

namespace partita::device {

class SimulatedBackend : public Backend {
 public:
  // Reads the state file if there is one; its GPUs must be the ones asked for. `clock` outlives the
  // backend.
  static Result<std::unique_ptr<SimulatedBackend>> open(SimulatedOptions options, Clock& clock);
  ~SimulatedBackend() override;

  std::string title() override;
  Answer<std::vector<GpuInfo>> gpus() override;
  Answer<std::vector<Instance>> instances(GpuId gpu) override;
  Answer<Instance> create(GpuId gpu, mig::Placement placement) override;
  Done destroy(const InstanceKey& key) override;
  Answer<MemoryUse> memory(const InstanceKey& key) override;
  Answer<std::vector<ProcessUse>> processes(const InstanceKey& key) override;
  Answer<std::int64_t> power_mw(GpuId gpu) override;
  Answer<std::int64_t> energy_mj(GpuId gpu) override;
  Answer<BoardUse> board(GpuId gpu) override;
  Answer<std::vector<HealthEvent>> poll_events() override;
  Done set_mig_mode(GpuId gpu, bool enabled) override;
  std::vector<EnvironmentVariable> job_environment(const InstanceKey& key) override;

  // ---- The world around the GPUs, for tests and simulated days.

  // A process holds `used_mib` of the slice from now on; a slice without any is idle.
  // Such processes are known to this object only, unlike those that report to a file.
  void put_process(const InstanceKey& key, ProcessUse process);
  void end_process(const InstanceKey& key, int pid);
  // A GPU instance without a compute instance, as a program that was killed leaves it.
  Answer<Instance> put_orphan(GpuId gpu, mig::Placement placement);
  // The machine starts again: every slice is gone, boot id and energy counters begin anew.
  Status reboot();
  void add_event(HealthEvent event);

 private:
  SimulatedBackend(SimulatedOptions options, Clock& clock);

  using Work = std::function<Done(SimulatedState&)>;
  // Runs `work` on the present state, alone in this program and, with a state file, on the machine;
  // what it changed is kept when it succeeds.
  Done with_state(const Work& work);
  // The same for one GPU, whose energy is counted up to now before and whose power is set after.
  using GpuWork = std::function<Done(SimulatedState&, SimulatedGpu&)>;
  Done with_gpu(GpuId gpu, const GpuWork& work);
  using InstanceWork = std::function<Done(SimulatedGpu&, SimulatedInstance&)>;
  Done with_instance(const InstanceKey& key, const InstanceWork& work);

  Done make_gpu_instance(GpuId gpu, mig::Placement placement, Instance& made);
  Done make_compute_instance(Instance& made);
  Done remove_compute_instance(const InstanceKey& key, mig::Placement& placement,
                               std::uint64_t& generation);
  Done remove_gpu_instance(const InstanceKey& key, std::uint64_t generation);
  void wait_for(double seconds);
  std::vector<ProcessUse> processes_on(const SimulatedInstance& instance) const;
  int busy_slices(const SimulatedGpu& gpu) const;  // compute slices with a process
  std::int64_t milliwatts(const SimulatedGpu& gpu) const;
  std::filesystem::path report_of(const std::string& uuid) const;

  SimulatedOptions options_;
  Clock& clock_;
  bool memory_dir_is_ours_ = false;
  std::mutex mutex_;
  SimulatedState state_;
  std::map<std::string, std::map<int, std::int64_t>> put_;  // by MIG UUID: pid to MiB
  std::vector<HealthEvent> events_;
};

}  // namespace partita::device
