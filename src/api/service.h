// Service: a request and who sent it in; a response, or an input for the controller, out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/http.h"
#include "api/routes.h"
#include "control/views/history.h"
#include "control/views/views.h"

namespace partita::api {

// Who is at the other end: as the kernel says, or as the token says that was shown on TCP.
struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool admin = false;
  Scope scope = Scope::kAdmin;  // no more than this, whoever it is
  std::string token = {};       // its id; empty: the kernel says who it is
  bool no_account = false;      // nobody of this machine: it has no jobs, and none can run as it
};

// The disk of the daemon's state.
struct DiskView {
  std::uint64_t free_bytes = 0;
  bool full = false;  // no job is taken or started

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "free_bytes", self.free_bytes, "full", self.full);
  }
};

// What the service needs to know of the daemon around it.
struct Surroundings {
  std::string version;
  std::string backend;
  std::string policy;
  std::string hostname;
  std::function<std::vector<control::EventView>(JobNumber job, std::size_t most)> events;
  // Bytes of a job's output from an offset.
  std::function<std::string(JobNumber job, std::uint64_t offset, std::size_t most)> output;
  // How a GPU's board is doing, as last read; by the controller's number.
  std::function<device::BoardUse(GpuId gpu)> board = [](GpuId) { return device::BoardUse{}; };
  // Why no new job can be taken now; empty: it can.
  std::function<std::string()> why_closed;
  std::function<DiskView()> disk = [] { return DiskView{}; };
  // How long a user who is no admin has to wait before submitting; 0: not at all, and it counts.
  std::function<Micros(std::uint32_t uid)> wait_to_submit = [](std::uint32_t) { return Micros{}; };
  // The name of a user's account; its number where there is none. And back.
  std::function<std::string(std::uint32_t uid)> user_name = [](std::uint32_t uid) {
    return std::to_string(uid);
  };
  std::function<std::optional<std::uint32_t>(const std::string& name)> uid_of =
      [](const std::string&) { return std::optional<std::uint32_t>(); };
  // The wall clock.
  std::function<Micros()> now = [] { return Micros{}; };
  bool simulated = false;  // the GPUs are
  // Jobs of users below are not run; nor, when it is above 0, those of "nobody".
  std::uint32_t uid_min = 0;
};

// How a user stands, with the name of the account, which the controller does not know.
struct NamedShareView : control::UserShareView {
  std::string user;

  static void fields(auto& self, auto&& visit) {
    UserShareView::fields(self, visit);
    visit(Field{.name = "user", .doc = "The name of the account; its number without one"},
          self.user);
  }
};
struct SharesView {
  std::string_view measure;  // of usage and rate
  double half_life_s = 0;
  std::vector<NamedShareView> users;  // by uid

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "measure", self.measure, "half_life_s", self.half_life_s, "users",
                self.users);
  }
};

// What is shown of the daemon.
struct StatusView {
  std::string_view version;
  std::string_view backend;
  std::string_view policy;
  bool shadow = false;
  std::string closed;
  control::JobCounts jobs;
  double fragmentation = 0;
  DiskView disk;
  bool simulated = false;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "version", self.version, "backend", self.backend, "policy", self.policy,
                "shadow", self.shadow, "closed", self.closed, "jobs", self.jobs, "fragmentation",
                self.fragmentation, "disk", self.disk);
    visit(Field{.name = "simulated", .doc = "The GPUs are simulated: jobs get no real one"},
          self.simulated);
  }
};

// Why one of several jobs is not stopped: `code` is what a request for it alone would get.
struct RefusalView {
  JobNumber job;
  std::int64_t code = 0;
  std::string_view message;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "job", self.job, "code", self.code, "message", self.message);
  }
};

// A response now, or an input whose reply carries the ticket.
using Handled = std::variant<Response, control::Input>;

class Service {
 public:
  // REQUIRES: both outlive the service.
  Service(const control::Controller& controller, const Surroundings& around)
      : controller_(controller), around_(around) {}

  Handled handle(const Request& request, const Caller& caller, control::Ticket ticket) const;
  Response response_to(const control::Reply& reply) const;

  // What a follower of /v1/events sees of an event; nothing when it is not theirs to see.
  std::optional<std::string> event_text(const control::EventView& event,
                                        const Caller& caller) const;

 private:
  std::optional<Response> refuse(const Match& match, const Caller& caller) const;
  Handled submit(const Request& request, const Caller& caller, control::Ticket ticket) const;
  std::optional<Response> refuse_submitter(const Caller& caller) const;
  Handled cancel_jobs(const Request& request, const Caller& caller, control::Ticket ticket) const;
  Handled drain(const Request& request, const Match& match, control::Ticket ticket) const;
  Response list_jobs(const Request& request, const Caller& caller) const;
  Response show_job(const control::Job& job) const;
  Response output(const Request& request, const control::Job& job) const;
  Response gpus(const Caller& caller) const;
  Response share() const;
  Response status() const;
  Response history(const Request& request, const Caller& caller) const;
  Response quota(const Request& request, const Caller& caller) const;

  const control::Controller& controller_;
  const Surroundings& around_;
};

// Figures in the text format of Prometheus.
std::string metrics_text(const control::Controller& controller, const Surroundings& around);

}  // namespace partita::api
