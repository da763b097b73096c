// The part of NvmlSession that watches for health events.
#include <mutex>
#include <utility>

#include "device/nvml/nvml_session.h"

namespace partita::device {

using nvml::Return;

std::uint64_t NvmlSession::generation_at(const std::string& gpu_uuid, unsigned gi) {
  const std::scoped_lock lock(mutex_);
  const auto seen = seen_.find({gpu_uuid, gi});
  return seen == seen_.end() ? 0 : seen->second.generation;
}

// REQUIRES: events_mutex_ is held.
Done NvmlSession::register_events() {
  const Return created = (*library_)->event_set_create(&event_set_);
  if (created != nvml::kSuccess) return nvml_error(created, "watching for events");
  const Answer<unsigned> count = gpu_count();
  if (!count) return count.error();
  std::set<std::uint32_t> monitored;
  Return last = nvml::kSuccess;
  for (unsigned i = 0; i < *count; ++i) {
    nvml::Device device = nullptr;
    if ((*library_)->device_by_index(i, &device) != nvml::kSuccess) continue;
    const Return code = (*library_)->register_events(device, nvml::kXidCriticalError, event_set_);
    if (code == nvml::kSuccess) monitored.insert(i);
    if (code != nvml::kSuccess) last = code;
  }
  const bool none = monitored.empty();
  const std::scoped_lock lock(mutex_);
  monitored_ = std::move(monitored);
  if (none && *count > 0) return nvml_error(last, "watching for events");
  return Nothing{};
}

void NvmlSession::note_event(const nvml::EventData& data) {
  if ((data.event_type & nvml::kXidCriticalError) == 0) return;
  HealthEvent event;
  event.xid = static_cast<int>(data.event_data);
  if (data.device != nullptr) {
    unsigned index = 0;
    if ((*library_)->device_index(data.device, &index) == nvml::kSuccess) event.gpu = {index};
    if (data.gpu_instance_id != nvml::kNoInstanceId) {
      event.gi = data.gpu_instance_id;
      event.generation =
          generation_at(text_of((*library_)->uuid, data.device), data.gpu_instance_id);
    }
  }
  const std::scoped_lock lock(mutex_);
  pending_.push_back(event);
}

// Takes what the driver has waiting. Nothing when another thread is about it.
Done NvmlSession::drain_events() {
  const std::unique_lock turn(events_mutex_, std::try_to_lock);
  if (!turn.owns_lock()) return Nothing{};
  if (event_set_ == nullptr) {
    Done registered = register_events();
    if (!registered) return registered;
  }
  constexpr int kEventsMax = 1000;  // a driver that never stops must not keep us
  for (int i = 0; i < kEventsMax; ++i) {
    nvml::EventData data = {};
    data.gpu_instance_id = nvml::kNoInstanceId;
    const Return code = (*library_)->event_wait(event_set_, &data, 0);
    if (code == nvml::kTimeout) return Nothing{};
    if (code != nvml::kSuccess) {
      (*library_)->event_set_free(event_set_);
      event_set_ = nullptr;  // the next poll watches anew
      const std::scoped_lock lock(mutex_);
      monitored_.clear();
      return nvml_error(code, "waiting for events");
    }
    note_event(data);
  }
  return Nothing{};
}

Answer<std::vector<HealthEvent>> NvmlSession::poll_events() {
  const Done drained = drain_events();
  if (!drained) return drained.error();
  const std::scoped_lock lock(mutex_);
  return std::exchange(pending_, {});
}

}  // namespace partita::device
