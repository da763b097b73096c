// DeviceWorkers: a thread for each GPU, so that a slow or hung call holds up no one else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "control/protocol.h"
#include "device/backend.h"

namespace partita::daemon {

// Everything that is read off a GPU at once.
struct Survey {};
using DeviceCommand = std::variant<control::Create, control::Destroy, Survey>;

// The sentence of a backend without the "GPU 1: " in front: whoever hears it knows the GPU.
std::string without_name(const std::string& sentence, GpuId gpu);

class DeviceWorkers {
 public:
  // `gpus`: as the backend numbers them, in the order of the controller. `backend` outlives this.
  DeviceWorkers(device::Backend& backend, std::vector<GpuId> gpus);
  // Waits for the calls under way.
  ~DeviceWorkers();
  DeviceWorkers(const DeviceWorkers&) = delete;
  DeviceWorkers& operator=(const DeviceWorkers&) = delete;

  // Readable when there are results.
  int wake_fd() const { return wake_; }
  void order(GpuId gpu, DeviceCommand command);
  // Asks every GPU that has nothing to do; one that has not answered for long is told as out.
  void survey_idle();
  // No call begins any more. False: one that is under way has not ended within the time.
  bool stop_within(std::chrono::milliseconds time);
  std::vector<control::Input> take_results();
  // How its board was when it was last asked; nothing is decided by it, so no turn hears of it.
  device::BoardUse board(GpuId gpu) const;

 private:
  struct Worker {
    std::mutex mutex;
    std::condition_variable more;
    std::deque<DeviceCommand> commands;
    bool busy = false;
    bool changes = false;  // what it is busy with is making or unmaking a slice
    std::chrono::steady_clock::time_point busy_since;
    bool stop = false;
    bool ended = false;
    bool usable = true;  // as last told
    std::thread thread;
  };

  void run(std::uint32_t index);
  void carry_out(std::uint32_t index, const DeviceCommand& command);
  void create(std::uint32_t index, const control::Create& create);
  void destroy(std::uint32_t index, const control::Destroy& destroy);
  void survey(std::uint32_t index);
  void tell_if_overdue(std::uint32_t index);
  void refuse(const DeviceCommand& command, const std::string& why);
  void tell_health(std::uint32_t index, bool usable, const std::string& why);
  void poll_events();
  void give(control::Input result);

  device::Backend& backend_;
  std::vector<GpuId> gpus_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex events_mutex_;  // whoever has it asks for the events of all GPUs
  bool monitored_ = true;
  mutable std::mutex boards_mutex_;
  std::vector<device::BoardUse> boards_;  // by the controller's number
  std::mutex results_mutex_;
  std::vector<control::Input> results_;
  int wake_ = -1;
};

}  // namespace partita::daemon
