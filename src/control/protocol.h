// What goes into a turn of the controller and what comes out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "control/jobs/job_spec.h"
#include "device/backend.h"
#include "launch/launcher.h"
#include "store/store.h"

namespace partita::control {

// ---- in

// Who asks and is to be answered; the answer is for whoever gave the ticket.
using Ticket = std::uint64_t;

struct Submit {
  Ticket ticket = 0;
  launch::Owner owner;
  std::string key;  // the same key of one owner gives the same jobs again; empty: none
  JobSpec spec;
  std::size_t count = 1;  // an array of equal jobs
};

struct Cancel {
  Ticket ticket = 0;
  std::int64_t job = 0;
};

// An instance was made, or was not.
struct CreateDone {
  GpuId gpu;
  mig::Placement placement;
  std::optional<device::Instance> instance;
  device::DeviceError error;  // without an instance
};

struct DestroyDone {
  GpuId gpu;
  mig::Placement placement;
  bool gone = false;
  device::DeviceError error;  // when it is not
};

// What was read off one GPU.
struct Reading {
  struct Slice {
    std::uint8_t start = 0;
    std::string uuid;
    double used_gib = 0;
  };
  GpuId gpu;
  std::optional<double> energy_j;  // the board's counter
  std::optional<double> power_w;
  std::vector<Slice> slices;
};

// What occupies a GPU, asked anew; at the start and from time to time.
struct Inventory {
  GpuId gpu;
  std::vector<device::Instance> instances;
};

struct GpuHealth {
  GpuId gpu;
  bool usable = true;
  std::string why;          // when it is not
  bool may_finish = false;  // what runs on it may end by itself
};

// Something an operator should know of, without a consequence.
struct Remark {
  std::string kind;
  std::string text;
};

// A critical event of one slice: what runs on it ends, and the slice is made anew.
struct SliceFault {
  GpuId gpu;
  std::uint8_t start = 0;
  std::string why;
};

using Input = std::variant<Submit, Cancel, launch::Report, CreateDone, DestroyDone, Reading,
                           Inventory, GpuHealth, SliceFault, Remark>;

// ---- out

struct Reply {
  enum class Kind : std::uint8_t { kAccepted, kNotFound, kConflict, kRefused, kFull, kCancelled };
  Ticket ticket = 0;
  Kind kind = Kind::kAccepted;
  std::vector<std::int64_t> jobs;
  std::string message;  // when it is refused
};

struct Launch {
  launch::Start start;
  device::InstanceKey instance;  // whose environment the job gets
};
struct Stop {
  launch::AttemptKey key;
  bool checkpoint = false;
};
struct Forget {
  launch::AttemptKey key;
};
struct Create {
  GpuId gpu;
  mig::Placement placement;
};
struct Destroy {
  GpuId gpu;
  mig::Placement placement;
  device::InstanceKey instance;
};

using Effect = std::variant<Launch, Stop, Forget, Create, Destroy>;

// In this order: the batch is committed, then replies are sent and effects carried out.
struct Turn {
  store::Batch batch;
  std::vector<Reply> replies;
  std::vector<Effect> effects;
};

}  // namespace partita::control
