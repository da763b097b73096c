#include "launch/local.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/failpoint.h"
#include "launch/system_calls.h"

namespace partita::launch {
namespace {

constexpr Micros kLookAtAll = Micros::seconds(2);
// A supervisor that has not claimed its attempt by then never will.
constexpr Micros kClaimTime = Micros::seconds(30);
// Records are written over the space that was reserved for them; older supervisors rename theirs.
constexpr std::uint32_t kWatchedFor = IN_CLOSE_WRITE | IN_MOVED_TO;

}  // namespace

LocalLauncher::LocalLauncher(Options options, Clock& clock)
    : options_(std::move(options)), clock_(clock), files_(options_.folder) {}

LocalLauncher::~LocalLauncher() {
  if (inotify_ >= 0) ::close(inotify_);
}

Status LocalLauncher::open() {
  const Status made = files_.make_folders();
  if (!made) return made;
  inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  const std::string folder = options_.folder + "/run";
  if (inotify_ < 0 || ::inotify_add_watch(inotify_, folder.c_str(), kWatchedFor) < 0) {
    return Error{fmt::format("{} cannot be watched: {}", folder, std::strerror(errno))};
  }
  return {};
}

// With what holds for every attempt here.
Start LocalLauncher::confined(Start start) const {
  start.output_bytes_max = options_.output_bytes_max;
  start.output_floor = options_.output_floor;
  if (options_.cgroups.empty()) {
    start.confinement = {};
    return start;
  }
  start.confinement.cgroup = options_.cgroups + "/" + text_of(start.key);
  start.confinement.memory_max = options_.memory_max;
  start.confinement.pids_max = options_.pids_max;
  return start;
}

// What is left of an attempt whose supervisor is no more: its own processes go by themselves, those
// that they made only with their cgroup.
void LocalLauncher::sweep(AttemptKey key) const {
  const Result<Start> start = files_.read_spec(key);
  if (!start) return;
  kill_cgroup(start->confinement.cgroup);
  remove_cgroup(start->confinement.cgroup);
}

Status LocalLauncher::start(const Start& start) {
  FAILPOINT(launch_before_spec);
  int error = files_.reserve(start.key);
  if (error == 0) {
    const Status written = files_.write_spec(confined(start));
    if (!written) error = errno;
    if (!written) files_.remove(start.key);
    if (!written && error != ENOSPC && error != EDQUOT) return written;
  }
  if (error == ENOSPC || error == EDQUOT) {
    Report report;
    report.kind = Report::Kind::kNoSpace;
    report.key = start.key;
    report.message = fmt::format("{} has no space to write down how the job ends", options_.folder);
    not_begun_.push_back(std::move(report));
    return {};
  }
  if (error != 0) return Error{fmt::format("{}/run: {}", options_.folder, std::strerror(error))};
  FAILPOINT(launch_spec_written);
  const Status spawned = spawn(start.key);
  if (spawned.ok()) watched_[start.key] = {false, clock_.now()};
  return spawned;
}

Status LocalLauncher::spawn(AttemptKey key) {
  std::vector<std::string> command = options_.supervisor;
  command.push_back(options_.folder);
  command.push_back(text_of(key));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  // Nothing of the daemon's stays open in it: the job may live longer.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = 0;
  FAILPOINT(launch_before_spawn);
  const int failed =
      ::posix_spawn(&pid, command[0].c_str(), &files, &attributes, pointers(command).data(),
                    pointers(options_.supervisor_environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  FAILPOINT(launch_spawned);
  if (failed == 0) return {};
  files_.remove(key);
  return Error{fmt::format("no supervisor can be started: {}", std::strerror(failed))};
}

void LocalLauncher::stop(AttemptKey key, bool checkpoint) {
  FAILPOINT(launch_stop_before);
  unsent_stops_.erase(key);
  if (!send_stop(key, checkpoint)) unsent_stops_[key] = checkpoint;
  FAILPOINT(launch_stop_sent);
}

bool LocalLauncher::send_stop(AttemptKey key, bool checkpoint) {
  if (!files_.has_spec(key)) return true;  // over and forgotten
  if (!files_.write_stop(key, checkpoint).ok()) return false;
  // Whoever holds the lock is the supervisor, so the process is still the one that wrote its id.
  if (const auto supervisor = files_.supervisor(key)) ::kill(*supervisor, SIGUSR1);
  return true;
}

std::vector<AttemptKey> LocalLauncher::changed_keys() {
  std::vector<AttemptKey> keys;
  alignas(inotify_event) std::array<char, 8192> buffer{};
  for (;;) {
    const ssize_t size = ::read(inotify_, buffer.data(), buffer.size());
    if (size <= 0) return keys;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) looked_at_all_ = Micros{};
      const std::string_view name = event->len > 0 ? event->name : "";
      if (!name.ends_with(".pid") && !name.ends_with(".exit")) continue;
      if (const auto key = key_of(name)) keys.push_back(*key);
    }
  }
}

void LocalLauncher::look_at(AttemptKey key, std::vector<Report>& reports) {
  const auto watched = watched_.find(key);
  if (watched == watched_.end()) return;
  if (!watched->second.told_start) {
    if (auto began = files_.read_pid(key)) {
      watched->second.told_start = true;
      reports.push_back(*std::move(began));
    }
  }
  if (auto ended = files_.read_end(key)) {
    FAILPOINT(launch_exit_seen);
    reports.push_back(*std::move(ended));
    watched_.erase(key);
  }
}

// Attempts whose supervisor is gone without a word.
void LocalLauncher::look_for_lost(std::vector<Report>& reports) {
  for (auto each = watched_.begin(); each != watched_.end();) {
    const AttemptKey key = each->first;
    const bool alive = files_.supervisor(key).has_value();
    const bool ended = files_.read_end(key).has_value();
    const bool young = clock_.now() - each->second.since < kClaimTime;
    ++each;
    if (alive || ended || (young && !watched_[key].told_start)) continue;
    const Report report = find(key);
    watched_.erase(key);
    reports.push_back(report);
  }
}

std::vector<Report> LocalLauncher::poll() {
  std::vector<Report> reports = std::exchange(not_begun_, {});
  for (const AttemptKey key : changed_keys()) look_at(key, reports);
  if (clock_.now() - looked_at_all_ < kLookAtAll) return reports;
  looked_at_all_ = clock_.now();
  std::vector<AttemptKey> keys;
  for (const auto& [key, watched] : watched_) keys.push_back(key);
  for (const AttemptKey key : keys) look_at(key, reports);
  look_for_lost(reports);
  std::erase_if(unsent_stops_,
                [this](const auto& each) { return send_stop(each.first, each.second); });
  return reports;
}

Report LocalLauncher::find(AttemptKey key) {
  Report report;
  report.key = key;
  report.kind = Report::Kind::kNotStarted;
  if (auto ended = files_.read_end(key)) return *std::move(ended);
  FAILPOINT(launch_revoking);
  if (files_.revoke(key) || files_.revoked(key)) return report;
  if (const auto supervisor = files_.supervisor(key)) {
    report.kind = Report::Kind::kStarted;
    report.pid = *supervisor;
    if (auto began = files_.read_pid(key)) report = *std::move(began);
    watched_[key] = {true, clock_.now()};
    return report;
  }
  if (auto ended = files_.read_end(key)) return *std::move(ended);  // while we looked
  sweep(key);
  report.kind = Report::Kind::kVanished;
  return report;
}

void LocalLauncher::forget(AttemptKey key) {
  watched_.erase(key);
  unsent_stops_.erase(key);
  files_.remove(key);
}

void LocalLauncher::forget_except(const std::set<AttemptKey>& kept) {
  files_.remove_except(kept);
}

}  // namespace partita::launch
