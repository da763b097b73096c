// NvmlBackend: real GPUs, through NVIDIA's management library. No call keeps a caller longer than
// the deadline, and a GPU that hangs keeps no caller of another GPU.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.h"
#include "device/deadline_worker.h"
#include "device/nvml/nvml_session.h"

namespace partita::device {

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";
  std::chrono::milliseconds deadline{30'000};
  std::chrono::milliseconds retry_after{60'000};  // how soon a GPU that hung is tried again
  NvmlSession::Pauses pauses = {std::chrono::milliseconds(100), std::chrono::milliseconds(200),
                                std::chrono::milliseconds(400), std::chrono::milliseconds(800)};
};

// Opens always: while there is no driver every call answers kDriverGone, and each tries again.
class NvmlBackend : public Backend {
 public:
  explicit NvmlBackend(NvmlOptions options);
  ~NvmlBackend() override;

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

 private:
  // The worker of one GPU, or of what concerns all of them.
  DeadlineWorker& worker_of(GpuId gpu);
  Answer<std::shared_ptr<NvmlSession>> session();
  template <typename T>
  Answer<T> ask(GpuId gpu, std::function<Answer<T>(NvmlSession&)> question);
  GpuInfo known(GpuId gpu, DeviceError trouble);

  const NvmlOptions options_;
  std::mutex mutex_;  // of what follows
  std::map<std::uint32_t, std::unique_ptr<DeadlineWorker>> workers_;
  std::shared_ptr<NvmlSession> session_;
  std::map<std::uint32_t, GpuInfo> last_known_;
};

}  // namespace partita::device
