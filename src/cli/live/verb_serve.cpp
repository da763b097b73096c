#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/text.h"
#include "cli/flags/live_values.h"
#include "cli/flags/version.h"
#include "cli/live/daemon_client.h"
#include "cli/verbs/verbs.h"
#include "daemon/daemon.h"
#include "daemon/quota_file.h"

namespace partita::cli {
namespace {

namespace fs = std::filesystem;

void say(const std::string& line) {
  const double now = real_clock().now().to_seconds();
  const std::string text = fmt::format("{} {}\n", shown_instant(now), line);
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody reads it
}

// The same for programs that read logs.
void say_json(const std::string& line) {
  const nlohmann::ordered_json json{{"at_s", real_clock().now().to_seconds()}, {"text", line}};
  const std::string text =
      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

std::string own_program() {
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "partita" : path.string();
}

// Folders of defaults may not be there yet.
void make_parent(const std::string& path) {
  std::error_code ignored;
  const fs::path parent = fs::path(path).parent_path();
  if (parent.empty() || fs::exists(parent, ignored)) return;
  fs::create_directories(parent, ignored);
  ::chmod(parent.c_str(), 0755);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

daemon::JobLimits limits_of(const Values& values) {
  daemon::JobLimits limits;
  limits.submissions = {values.number("submit-rate"),
                        static_cast<double>(values.count("submit-burst"))};
  limits.connections_per_user = values.count("connections-per-user");
  limits.jobs_per_user = values.count("jobs-per-user");
  limits.jobs_kept = values.count("jobs-kept");
  limits.uid_min = static_cast<std::uint32_t>(values.count("min-uid"));
  limits.output_bytes_max = values.as<std::uint64_t>("output-max");
  limits.output.bytes_max = values.as<std::uint64_t>("output-total-max");
  if (values.is_set("output-age-max")) {
    limits.output.age_max = values.as<Micros>("output-age-max");
  }
  if (values.is_set("output-floor")) {
    limits.output_floor = values.as<std::uint64_t>("output-floor");
  }
  if (values.is_set("disk-floor")) limits.disk_floor = values.as<std::uint64_t>("disk-floor");
  limits.journal.bytes = static_cast<std::int64_t>(values.as<std::uint64_t>("journal-max"));
  if (values.is_set("journal-age-max")) {
    limits.journal.age = values.as<Micros>("journal-age-max");
  }
  if (values.is_set("time-limit-max")) {
    limits.time_limit_max = values.as<Micros>("time-limit-max");
  }
  if (values.is_set("job-host-memory"))
    limits.memory_max = values.as<std::uint64_t>("job-host-memory");
  if (values.is_set("job-processes")) limits.pids_max = values.count("job-processes");
  return limits;
}

// What systemd says in the environment, if it is for us.
Micros watchdog_time() {
  const char* time = std::getenv("WATCHDOG_USEC");
  const char* process = std::getenv("WATCHDOG_PID");
  const std::int64_t micros = time == nullptr ? 0 : parse_int(time).value_or(0);
  const bool ours = process == nullptr || parse_int(process).value_or(0) == ::getpid();
  return ours ? Micros{std::max<std::int64_t>(0, micros)} : Micros{};
}

}  // namespace

Outcome run_serve(const Values& values, Console&) {
  daemon::Settings settings;
  settings.backend = values.text("backend");
  settings.waits_for_driver = values.given("backend") != nullptr;
  const std::string state = values.is_set("state") ? values.text("state") : default_state();
  settings.state = fs::absolute(state).lexically_normal().string();
  settings.socket = default_socket();
  if (values.is_set("listen")) {
    for (const api::Address& address : values.as<std::vector<api::Address>>("listen")) {
      if (address.tcp) settings.tcp = address;
      if (!address.tcp) settings.socket = address.path;
    }
  }
  settings.policy = values.text("policy");
  settings.shadow = values.has_switch("shadow");
  settings.early_restart = !values.has_switch("no-early-restart");
  if (values.is_set("preempt-after")) settings.preempt_after = values.seconds("preempt-after");
  settings.preemption = values.as<decide::Preemption>("serve-preemption");
  settings.queue.reserve_after = values.as<std::optional<Micros>>("serve-reserve-after");
  settings.queue.fair_share = values.as<decide::FairOrder>("serve-fair-share");
  settings.queue.half_life = values.seconds("half-life");
  if (values.given("shares") != nullptr) {
    settings.queue.weights = values.as<std::vector<std::pair<std::string, double>>>("shares");
  }
  if (values.is_set("quotas")) {
    auto quotas = daemon::read_quotas(values.text("quotas"));
    if (!quotas) return quotas.error();
    settings.quotas = *std::move(quotas);
  }
  settings.watch_interval = values.seconds("watch");
  settings.limits = limits_of(values);
  settings.version = kVersion;
  settings.hostname = host_name();
  settings.supervisor = {own_program(), "__supervise"};
  // For tests that end the daemon, or its supervisors, at a place of their choice.
  if (const char* place = std::getenv("PARTITA_FAILPOINT")) {
    const Status armed = arm_failpoint(place);
    if (!armed) return armed.error();
  }
  if (const char* place = std::getenv("PARTITA_SUPERVISOR_FAILPOINT")) {
    settings.supervisor_environment.push_back(fmt::format("PARTITA_FAILPOINT={}", place));
  }
  if (!values.is_set("state")) make_parent(settings.state);
  if (settings.socket == default_socket()) make_parent(settings.socket);
  const auto teller = values.has_switch("json") ? say_json : say;
  if (const char* socket = std::getenv("NOTIFY_SOCKET")) settings.notify_socket = socket;
  settings.watchdog = watchdog_time();
  bool began = false;
  const Status ran = daemon::run_daemon(settings, teller, began);
  if (!ran && !began) return ran.error();  // status 2: a unit does not try that again
  if (!ran) {
    complain(ran.error().message);
    return 1;
  }
  teller("stopped; jobs go on");
  return 0;
}

}  // namespace partita::cli
