// FaultyBackend: any backend, with the troubles of real GPUs added by plan or by chance.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "device/backend.h"
#include "device/simulated/fault_rules.h"

namespace partita::device {

struct FaultyOptions {
  std::vector<FaultRule> rules;
  double rate = 0;         // chance that a call meets a random fault
  std::uint64_t seed = 0;  // of that chance
};

class FaultyBackend : public Backend {
 public:
  // `clock` outlives the backend.
  FaultyBackend(std::unique_ptr<Backend> inner, FaultyOptions options, Clock& clock);

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

  void add(FaultRule rule);
  // No more faults; what they did stays done.
  void clear();
  // What an operator does to a GPU that is lost or waits for a reset: it works again, and what was
  // on it is gone.
  void reset(GpuId gpu);
  Backend& inner() { return *inner_; }

 private:
  enum class Call : std::uint8_t {
    kGpus,
    kInstances,
    kCreate,
    kDestroy,
    kMemory,
    kProcesses,
    kPower,
    kEnergy,
    kEvents,
    kMode,
  };
  using Trouble = std::optional<DeviceError>;

  static bool can_strike(int number, Call call);
  void draw(Call call, GpuId gpu);
  // The next rule with one of `numbers` that strikes this call, used up by one.
  std::optional<FaultRule> struck(std::initializer_list<int> numbers, Call call, GpuId gpu);
  // What concerns every call: slow, hung, lost, no driver, no permission.
  using Lock = std::unique_lock<std::recursive_mutex>;
  Trouble before(Call call, GpuId gpu, Lock& lock);
  void sleep_without(Lock& lock, double seconds);
  Trouble driver_trouble(Call call, GpuId gpu);
  Trouble create_trouble(GpuId gpu, mig::Placement placement);
  Trouble destroy_trouble(const InstanceKey& key);
  void planned_events(std::vector<HealthEvent>& events);
  void restart();
  void change_behind_our_back(GpuId gpu, bool vanish);
  Trouble in_the_way(GpuId gpu, mig::Placement placement);
  mig::Layout orphans_on(GpuId gpu) const;
  bool is_orphan(const InstanceKey& key) const;

  GpuId inside(GpuId outer) const;
  GpuId outside(GpuId inner) const;
  InstanceKey inside(InstanceKey key) const;

  const std::unique_ptr<Backend> inner_;
  Clock& clock_;
  std::recursive_mutex mutex_;
  std::vector<FaultRule> rules_;
  double rate_;
  Rng rng_;
  std::set<GpuId> lost_;
  std::set<GpuId> needs_reset_;
  std::set<GpuId> hung_;
  std::vector<Instance> orphans_;                                       // under their outer ids
  std::map<std::pair<GpuId, std::uint32_t>, std::uint64_t> destroyed_;  // last generation at a gi
  std::vector<HealthEvent> own_events_;
  std::uint32_t gpus_known_ = 0;
  std::uint32_t shift_ = 0;  // outer id = inner id + shift
  int restarts_ = 0;
  bool renumbered_ = false;
  std::uint64_t made_ = 0;
};

}  // namespace partita::device
