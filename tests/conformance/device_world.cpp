#include "device_world.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "device/nvml/nvml.h"
#include "device/simulated/faulty.h"
#include "device/simulated/simulated.h"

namespace partita::conformance {
namespace {

using device::Backend;
using device::Instance;
using device::InstanceKey;
using device::SimulatedBackend;

class SimulatedWorld : public DeviceWorld {
 public:
  SimulatedWorld(const std::string& gpu, bool behind_faulty) {
    auto options = device::parse_simulated("2x" + gpu);
    CHECK(options.ok());
    auto opened = SimulatedBackend::open(*options, clock_);
    CHECK(opened.ok());
    simulated_ = opened->get();
    backend_ = std::move(*opened);
    if (behind_faulty) {
      backend_ = std::make_unique<device::FaultyBackend>(std::move(backend_),
                                                         device::FaultyOptions{}, clock_);
    }
  }

  Backend& backend() override { return *backend_; }
  void put_process(const InstanceKey& key, int pid, std::int64_t mib) override {
    simulated_->put_process(key, {pid, mib});
  }
  void end_process(const InstanceKey& key, int pid) override { simulated_->end_process(key, pid); }
  void add_event(const Instance& instance, int xid) override {
    simulated_->add_event({instance.key.gpu, xid, instance.key.gi, instance.generation});
  }
  void put_orphan(GpuId gpu, mig::Placement placement) override {
    CHECK(simulated_->put_orphan(gpu, placement).ok());
  }
  void pass(Micros span) override { clock_.advance(span); }

 private:
  ManualClock clock_;
  std::unique_ptr<Backend> backend_;
  SimulatedBackend* simulated_ = nullptr;
};

class FakeNvmlWorld : public DeviceWorld {
 public:
  explicit FakeNvmlWorld(const std::string& gpu) {
    tell_fake_nvml(fmt::format("reset gpus={},{}", gpu, gpu));
    device::NvmlOptions options;
    options.library = fake_nvml_path();
    options.pauses = {std::chrono::milliseconds(1)};
    backend_ = std::make_unique<device::NvmlBackend>(options);
  }

  Backend& backend() override { return *backend_; }
  void put_process(const InstanceKey& key, int pid, std::int64_t mib) override {
    tell_fake_nvml(fmt::format("process {} {} {} {}", key.gpu.value, key.gi, pid, mib));
  }
  void end_process(const InstanceKey& key, int pid) override {
    tell_fake_nvml(fmt::format("end {} {} {}", key.gpu.value, key.gi, pid));
  }
  void add_event(const Instance& instance, int xid) override {
    tell_fake_nvml(fmt::format("event {} {} {}", instance.key.gpu.value, xid, instance.key.gi));
  }
  void put_orphan(GpuId gpu, mig::Placement placement) override {
    const auto gpus = backend_->gpus();
    CHECK(gpus.ok());
    const int id = (*gpus)[gpu.value].model->profiles[placement.profile].nvml_id;
    tell_fake_nvml(fmt::format("make {} {} {} bare", gpu.value, id, placement.start));
  }
  void pass(Micros span) override {
    real_clock().sleep({std::min<std::int64_t>(span.count, 5000)});
  }

 private:
  std::unique_ptr<Backend> backend_;
};

}  // namespace

std::string fake_nvml_path() {
  return PARTITA_FAKE_NVML_PATH;
}

void tell_fake_nvml(const std::string& commands) {
  static void* const library = ::dlopen(PARTITA_FAKE_NVML_PATH, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  using Control = int (*)(const char*);
  static const auto control = reinterpret_cast<Control>(::dlsym(library, "partita_fake_nvml"));
  CHECK(control != nullptr);
  if (control(commands.c_str()) != 0) {
    fmt::print(stderr, "the fake NVML does not understand '{}'\n", commands);
    CHECK(false);
  }
}

std::unique_ptr<DeviceWorld> make_world(const WorldKind& kind) {
  if (kind.backend == "fake_nvml") return std::make_unique<FakeNvmlWorld>(kind.gpu);
  return std::make_unique<SimulatedWorld>(kind.gpu, kind.backend == "faulty");
}

std::vector<WorldKind> all_worlds() {
  std::vector<WorldKind> worlds;
  for (const char* backend : {"simulated", "faulty", "fake_nvml"}) {
    for (const char* gpu : {"a30-24gb", "a100-40gb", "h100-80gb", "h200-141gb"}) {
      worlds.push_back({backend, gpu});
    }
  }
  for (const char* gpu : {"a100-80gb", "b200-180gb"}) worlds.push_back({"simulated", gpu});
  return worlds;
}

}  // namespace partita::conformance
