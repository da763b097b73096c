#include "launch/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/failpoint.h"
#include "launch/attempt_files.h"

namespace partita::launch {
namespace {

constexpr std::size_t kTailBytes = 4096;

std::vector<char*> pointers(const std::vector<std::string>& list) {
  std::vector<char*> array;
  for (const std::string& each : list) array.push_back(const_cast<char*>(each.c_str()));
  array.push_back(nullptr);
  return array;
}

// What went wrong between fork and exec, sent to the parent through a pipe that exec closes.
[[noreturn]] void give_up(int pipe, const char* what) {
  std::array<char, 512> text{};
  const int size = std::snprintf(text.data(), text.size(), "%s: %s", what, std::strerror(errno));
  if (::write(pipe, text.data(), static_cast<std::size_t>(size)) < 0) ::_exit(126);
  ::_exit(127);
}

// The rights of the owner and no more, where we have more to give up.
void become_owner(const Owner& owner, int pipe) {
  if (::geteuid() != 0 || owner.uid == 0) return;
  const passwd* user = ::getpwuid(owner.uid);
  const bool groups =
      user != nullptr ? ::initgroups(user->pw_name, owner.gid) == 0 : ::setgroups(0, nullptr) == 0;
  if (!groups) give_up(pipe, "the groups of the owner cannot be set");
  if (::setresgid(owner.gid, owner.gid, owner.gid) != 0) give_up(pipe, "the group cannot be set");
  if (::setresuid(owner.uid, owner.uid, owner.uid) != 0) give_up(pipe, "the user cannot be set");
  if (::setresuid(0, 0, 0) == 0) give_up(pipe, "root could be had back");
}

// A child in a process group of its own, with the output file and nothing else open.
pid_t run_child(const std::vector<std::string>& argv, const Start& start, int output, int pipe) {
  std::vector<char*> arguments = pointers(argv);
  std::vector<char*> environment = pointers(start.environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a job without its supervisor would be nobody's
  if (::getppid() != parent) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const int told = ::fcntl(pipe, F_DUPFD_CLOEXEC, 100);
  ::syscall(SYS_close_range, 3U, 99U, 0U);
  ::syscall(SYS_close_range, 101U, ~0U, 0U);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int each : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1}) {
    ::signal(each, SIG_DFL);
  }
  ::umask(022);
  become_owner(start.owner, told);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user forgets it
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::chdir(start.directory.c_str()) != 0) give_up(told, "the directory of the job");
  // execvpe looks the program up in our PATH; the job's is the one that counts.
  ::environ = environment.data();
  ::execvp(arguments[0], arguments.data());
  give_up(told, arguments[0]);
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  std::string read_to_end() {
    ::close(ends[1]);
    ends[1] = -1;
    std::array<char, 512> text{};
    ssize_t size = 0;
    do {
      size = ::read(ends[0], text.data(), text.size());
    } while (size < 0 && errno == EINTR);
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
  }
  std::array<int, 2> ends{};
};

std::string tail_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return {};
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::array<char, kTailBytes> text{};
  const off_t from = size > static_cast<off_t>(text.size()) ? size - off_t{kTailBytes} : 0;
  const ssize_t read = ::pread(fd, text.data(), text.size(), from);
  ::close(fd);
  std::string tail(text.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
  for (char& c : tail) c = c == '\0' ? ' ' : c;
  return tail;
}

// One attempt from claim to end.
class Supervision {
 public:
  Supervision(const std::string& folder, AttemptKey key) : files_(folder), key_(key) {}

  int run();

 private:
  bool begin();
  void wait_for_end();
  void stop_if_asked(bool poked);
  void send(int signal) { ::kill(-child_, signal); }
  void run_checkpoint();
  int end_with(Report report);
  Micros now() { return real_clock().now(); }

  AttemptFiles files_;
  AttemptKey key_;
  Start start_;
  int lock_ = -1;
  int output_ = -1;
  pid_t child_ = -1;
  bool stopping_ = false;
  bool killed_ = false;
  Micros stop_at_;
  siginfo_t ended_{};
};

int Supervision::end_with(Report report) {
  report.key = key_;
  report.at = now();
  for (int i = 0; i < 50; ++i) {  // a full disk may have room again
    if (files_.write_end(report).ok()) return 0;
    ::usleep(200'000);
  }
  return 1;
}

bool Supervision::begin() {
  Pipe pipe;
  child_ = run_child(start_.argv, start_, output_, pipe.ends[1]);
  const std::string trouble =
      child_ < 0 ? std::string("no process can be made") : pipe.read_to_end();
  FAILPOINT(supervisor_forked);
  if (trouble.empty()) return true;
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
  Report report;
  report.kind = Report::Kind::kNotStarted;
  report.message = trouble;
  end_with(report);
  return false;
}

void Supervision::run_checkpoint() {
  Pipe pipe;
  Start start = start_;
  start.environment.push_back(fmt::format("PARTITA_PID={}", child_));
  const pid_t child = run_child(start.checkpoint, start, output_, pipe.ends[1]);
  if (child < 0 || !pipe.read_to_end().empty()) return;
  const Micros until = now() + kCheckpointTime;
  while (::waitpid(child, nullptr, WNOHANG) == 0) {
    if (now() > until) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      return;
    }
    ::usleep(20'000);
  }
}

void Supervision::stop_if_asked(bool poked) {
  if (!stopping_ && poked) {
    const auto asked = files_.read_stop(key_);
    if (!asked) return;
    stopping_ = true;
    if (*asked && !start_.checkpoint.empty()) run_checkpoint();
    send(SIGTERM);
    send(SIGCONT);
    stop_at_ = now() + kStopGrace;
  }
  if (stopping_ && !killed_ && now() >= stop_at_) {
    killed_ = true;
    send(SIGKILL);
  }
}

// Leaves the child as a zombie, so that its id stays its own until its end is written.
void Supervision::wait_for_end() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGUSR1);
  bool poked = true;  // the wish may be older than we are
  for (;;) {
    ended_ = siginfo_t{};
    const int waited =
        ::waitid(P_PID, static_cast<id_t>(child_), &ended_, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 && ended_.si_pid == child_) return;
    stop_if_asked(poked);
    const timespec second{1, 0};
    const int signal = ::sigtimedwait(&watched, nullptr, &second);
    poked = signal != SIGCHLD;
  }
}

int Supervision::run() {
  FAILPOINT(supervisor_begun);
  lock_ = files_.lock(key_);
  if (lock_ < 0) return 0;
  FAILPOINT(supervisor_locked);
  Result<Start> start = files_.read_spec(key_);
  if (!start || !files_.claim(key_)) return 0;
  // A daemon that revoked and forgot the attempt since we read it removed this first, and its own
  // claim last.
  if (!files_.read_spec(key_).ok()) return 0;
  FAILPOINT(supervisor_claimed);
  start_ = *std::move(start);
  const std::string output = files_.output_path(key_.job);
  output_ = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (output_ < 0) {
    Report report;
    report.kind = Report::Kind::kNotStarted;
    report.message = "its output cannot be kept: " + std::string(std::strerror(errno));
    return end_with(report);
  }
  if (!begin()) return 0;
  if (!files_.write_pid(key_, child_, now()).ok()) send(SIGKILL);
  FAILPOINT(supervisor_pid_written);
  wait_for_end();
  FAILPOINT(supervisor_job_ended);
  send(SIGKILL);  // what the job left behind in its group goes with it
  Report report;
  report.kind = Report::Kind::kEnded;
  report.pid = child_;
  const bool exited = ended_.si_code == CLD_EXITED;
  report.exit_code = exited ? ended_.si_status : -1;
  report.signal = exited ? 0 : ended_.si_status;
  report.message = report.exit_code == 0 ? "" : tail_of(output);
  const int status = end_with(report);
  FAILPOINT(supervisor_exit_written);
  ::waitpid(child_, nullptr, 0);
  return status;
}

}  // namespace

int supervise(const std::string& folder, AttemptKey key) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  return Supervision(folder, key).run();
}

}  // namespace partita::launch
