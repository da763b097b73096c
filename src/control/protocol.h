// What goes into a turn of the controller and what comes out of it. The fields of each are named
// for the journal, which keeps what goes in, and for the digest of what comes out.
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

  static auto parts(auto& self) {
    return std::tie(self.ticket, self.owner, self.key, self.spec, self.count);
  }
};

struct Cancel {
  Ticket ticket = 0;
  JobNumber job;

  static auto parts(auto& self) { return std::tie(self.ticket, self.job); }
};

// Several at once: one turn, one answer that names those that are not stopped and why.
struct CancelJobs {
  Ticket ticket = 0;
  std::vector<JobNumber> jobs;
  std::optional<std::uint32_t> only_of;  // jobs of other users are refused; nothing: of none

  static auto parts(auto& self) { return std::tie(self.ticket, self.jobs, self.only_of); }
};

// A job is not to start until it is released, or is released.
struct Hold {
  Ticket ticket = 0;
  JobNumber job;
  bool hold = true;
  bool admin = false;  // it is somebody else's job; an owner cannot undo that

  static auto parts(auto& self) { return std::tie(self.ticket, self.job, self.hold, self.admin); }
};

// A job that runs is stopped and waits again; one that has ended is queued again.
struct Requeue {
  Ticket ticket = 0;
  JobNumber job;

  static auto parts(auto& self) { return std::tie(self.ticket, self.job); }
};

// An instance was made, or was not.
struct CreateDone {
  GpuId gpu;
  mig::Placement placement;
  std::optional<device::Instance> instance;
  device::DeviceError error;  // without an instance

  static auto parts(auto& self) {
    return std::tie(self.gpu, self.placement, self.instance, self.error);
  }
};

struct DestroyDone {
  GpuId gpu;
  mig::Placement placement;
  bool gone = false;
  device::DeviceError error;  // when it is not

  static auto parts(auto& self) {
    return std::tie(self.gpu, self.placement, self.gone, self.error);
  }
};

// What was read off one GPU.
struct Reading {
  struct SliceMemory {
    std::uint8_t start = 0;
    std::string uuid;
    double used_gib = 0;

    static void fields(auto& self, auto&& visit) {
      visit(Field{.most = mig::kMemorySlicesMax - 1}, self.start);
      visit_each(visit, self.uuid, self.used_gib);
    }
  };
  GpuId gpu;
  std::optional<double> energy_j;  // the board's counter
  std::optional<double> power_w;
  std::vector<SliceMemory> slices;
};

// What occupies a GPU, asked anew; at the start and from time to time.
struct Inventory {
  GpuId gpu;
  std::vector<device::Instance> instances;

  static auto parts(auto& self) { return std::tie(self.gpu, self.instances); }
};

struct GpuHealth {
  GpuId gpu;
  bool usable = true;
  std::string why;          // when it is not
  bool may_finish = false;  // what runs on it may end by itself

  static auto parts(auto& self) {
    return std::tie(self.gpu, self.usable, self.why, self.may_finish);
  }
};

// An operator takes a GPU out of use, or gives it back. Jobs that run there go on.
struct DrainGpu {
  Ticket ticket = 0;
  GpuId gpu;
  bool drain = true;
  std::string reason;  // may be empty

  static auto parts(auto& self) { return std::tie(self.ticket, self.gpu, self.drain, self.reason); }
};

// Something an operator should know of, without a consequence.
struct Remark {
  std::string kind;
  std::string text;

  static auto parts(auto& self) { return std::tie(self.kind, self.text); }
};

// A critical event of one slice: what runs on it ends, and the slice is made anew.
struct SliceFault {
  GpuId gpu;
  std::uint8_t start = 0;
  std::string why;

  static void fields(auto& self, auto&& visit) {
    visit(Field{}, self.gpu);
    visit(Field{.most = mig::kMemorySlicesMax - 1}, self.start);
    visit(Field{}, self.why);
  }
};

// Whether there is disk space for more than the ends of what runs. Until the first of these is
// taken there is.
struct Storage {
  bool space = true;
  std::string why;  // when there is none

  static auto parts(auto& self) { return std::tie(self.space, self.why); }
};

using Input =
    std::variant<Submit, Cancel, launch::Report, CreateDone, DestroyDone, Reading, Inventory,
                 GpuHealth, SliceFault, Remark, Storage, Hold, Requeue, DrainGpu, CancelJobs>;

// ---- out

// Why one of several jobs was not stopped.
struct Refusal {
  enum class Kind : std::uint8_t { kNotFound, kForbidden, kConflict };
  JobNumber job;
  Kind kind = Kind::kNotFound;
  std::string message;

  static auto parts(auto& self) { return std::tie(self.job, self.kind, self.message); }
  bool operator==(const Refusal&) const = default;
};

struct Reply {
  enum class Kind : std::uint8_t {
    kAccepted,
    kNotFound,
    kConflict,
    kRefused,
    kFull,
    kCancelled,
    kNoSpace,
    kSomeCancelled,  // of several: `jobs` are stopped, `refused` are not
    kDone,
    kForbidden,
  };
  Ticket ticket = 0;
  Kind kind = Kind::kAccepted;
  std::vector<JobNumber> jobs;
  std::string message;  // when it is refused
  std::vector<Refusal> refused = {};

  static void fields(auto& self, auto&& visit) {
    visit_each(visit, self.ticket, self.kind, self.jobs, self.message);
    visit(Field{.name = "refused", .encoding = Encoding::kNamed}, self.refused);
  }
};

struct Launch {
  launch::Start start;
  device::InstanceKey instance;  // whose environment the job gets

  static auto parts(auto& self) { return std::tie(self.start, self.instance); }
};
struct Stop {
  launch::AttemptKey key;
  bool checkpoint = false;

  static auto parts(auto& self) { return std::tie(self.key, self.checkpoint); }
};
struct Forget {
  launch::AttemptKey key;

  static auto parts(auto& self) { return std::tie(self.key); }
};
struct Create {
  GpuId gpu;
  mig::Placement placement;

  static auto parts(auto& self) { return std::tie(self.gpu, self.placement); }
};
struct Destroy {
  GpuId gpu;
  mig::Placement placement;
  device::InstanceKey instance;

  static auto parts(auto& self) { return std::tie(self.gpu, self.placement, self.instance); }
};

using Effect = std::variant<Launch, Stop, Forget, Create, Destroy>;

// In this order: the batch is committed, then replies are sent and effects carried out.
struct Turn {
  store::Batch batch;
  std::vector<Reply> replies;
  std::vector<Effect> effects;
};

}  // namespace partita::control
