#include "launch/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/fd.h"
#include "launch/attempt_files.h"
#include "launch/output_copy.h"
#include "launch/owner_rights.h"
#include "launch/system_calls.h"

namespace partita::launch {
namespace {

// How often a wish to stop is looked for that nobody poked us for.
constexpr Micros kLookAgain = Micros::seconds(1);
// Between two tries to write down how the job ended, on a disk without space: from the first to the
// last. There is no giving up: whoever asks would take the job for lost and run it again.
constexpr Micros kEndRetryFirst = Micros{200'000};
constexpr Micros kEndRetryMost = Micros::seconds(5);
// What is taken of the output once the job has ended: no pipe of ours holds more.
constexpr std::size_t kLastBytes = 1U << 20U;

// Not moved by who sets the machine's clock.
Micros steady_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Micros::seconds(now.tv_sec) + Micros{now.tv_nsec / 1000};
}

// All 64: whoever started the daemon may have ignored any. Two of them the library keeps to itself.
void default_signals() {
  constexpr int kSignals = 64;
  const std::array<unsigned long, 4> by_default{};  // the kernel's struct: handler, flags, ...
  for (int each = 1; each <= kSignals; ++each) {
    ::syscall(SYS_rt_sigaction, each, by_default.data(), nullptr, sizeof(unsigned long));
  }
}

// A child in a process group of its own, with the way to its output and nothing else open.
// `script`: what it shall find at kScriptDescriptor, or -1.
pid_t run_child(const std::vector<std::string>& argv, const Start& start, int output, int pipe,
                int script = -1) {
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
  if (script >= 0) {
    ::dup2(script, static_cast<int>(kScriptDescriptor));
    ::fcntl(static_cast<int>(kScriptDescriptor), F_SETFD, 0);  // also where it was there already
  }
  ::syscall(SYS_close_range, script >= 0 ? kScriptDescriptor + 1U : 3U, 99U, 0U);
  ::syscall(SYS_close_range, 101U, ~0U, 0U);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(022);
  const std::string& cgroup = start.confinement.cgroup;
  if (!cgroup.empty() && !enter_cgroup(cgroup)) give_up(told, "the cgroup of the job");
  become_owner(start.owner, told);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user forgets it
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::chdir(start.directory.c_str()) != 0) give_up_folder(told, start);
  default_signals();  // last: the library needs one of its own to become somebody else
  // execvpe looks the program up in our PATH; the job's is the one that counts.
  ::environ = environment.data();
  ::execvp(arguments[0], arguments.data());
  const bool looked_up = errno == ENOENT && std::strchr(arguments[0], '/') == nullptr;
  const auto path = std::ranges::find_if(
      start.environment, [](const std::string& entry) { return entry.starts_with("PATH="); });
  if (!looked_up || path == start.environment.end()) give_up(told, arguments[0]);
  std::array<char, 384> where{};
  std::snprintf(where.data(), where.size(), "%.128s in %s", arguments[0], path->c_str() + 5);
  errno = ENOENT;
  give_up(told, where.data());
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

// The pipe of a job is its owner's, so that programs that open /dev/stdout can. Belongs to whom the
// file system takes us for when it is made.
struct OutputPipe {
  OutputPipe(const Owner& owner, bool as_owner) {
    if (as_owner) {
      ::setfsgid(owner.gid);
      ::setfsuid(owner.uid);
    }
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
    if (as_owner) {
      ::setfsuid(::geteuid());
      ::setfsgid(::getegid());
    }
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  ~OutputPipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  std::array<int, 2> ends{};
};

// One attempt from claim to end.
class Supervision {
 public:
  Supervision(const std::string& folder, AttemptKey key) : files_(folder), key_(key) {}

  int run();

 private:
  int write_end();
  bool open_output();
  bool open_output_of_owner();
  bool begin();
  void wait_for_end();
  bool look_around(Micros at_most);
  void stop_if_asked(bool poked);
  void begin_to_stop();
  void stop_in_time();
  void send(int signal) { ::kill(-child_, signal); }
  void kill_all();
  void run_checkpoint();
  void tell(const std::string& what);
  int end_with(Report report);
  int refuse(std::string why, Report::Kind kind = Report::Kind::kNotStarted);
  void tell_start();
  Micros now() { return real_clock().now(); }

  AttemptFiles files_;
  AttemptKey key_;
  Start start_;
  int lock_ = -1;
  int output_ = -1;
  std::string output_trouble_;  // why there is none, where it is the owner's file
  int signals_ = -1;
  std::unique_ptr<OutputPipe> pipe_;
  std::unique_ptr<OutputCopy> copy_;
  bool output_open_ = true;
  pid_t child_ = -1;
  bool start_told_ = false;
  Micros started_at_;  // of the wall clock
  bool stopping_ = false;
  bool killed_ = false;
  bool over_time_ = false;
  Micros began_at_;  // of the steady clock, as those below
  Micros stop_at_;
  Micros looked_at_;
  siginfo_t ended_{};
};

int Supervision::end_with(Report report) {
  report.key = key_;
  report.at = now();
  for (Micros wait = kEndRetryFirst;; wait = std::min(wait + wait, kEndRetryMost)) {
    if (files_.write_end(report).ok()) return 0;
    if (!files_.has_spec(key_)) return 1;  // forgotten: nobody will ask
    // Who wants us to stop wakes us, and it is tried at once: the job has ended already.
    pollfd poked{signals_, POLLIN, 0};
    ::poll(&poked, 1, static_cast<int>(wait.count / 1000));
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    }
  }
}

int Supervision::refuse(std::string why, Report::Kind kind) {
  Report report;
  report.kind = kind;
  report.message = std::move(why);
  return end_with(report);
}

// Where that cannot be written now the job goes on, and it is tried again.
void Supervision::tell_start() {
  if (start_told_) return;
  start_told_ = files_.write_pid(key_, child_, started_at_).ok();
}

bool Supervision::open_output() {
  const std::string path = files_.output_path(key_.job);
  output_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (output_ < 0) return false;
  if (!start_.output.empty() && !open_output_of_owner()) return false;
  pipe_ = std::make_unique<OutputPipe>(start_.owner, ::geteuid() == 0);
  copy_ = std::make_unique<OutputCopy>(pipe_->ends[0], output_,
                                       start_.output.empty() ? start_.output_bytes_max : 0,
                                       start_.output.empty() ? start_.output_floor : 0);
  return pipe_->ends[0] >= 0;
}

// What is kept here says where the output is; the file itself and its space are its owner's.
bool Supervision::open_output_of_owner() {
  const Fd kept(output_);
  const Result<int> opened = open_as_owner(start_, start_.output, key_.number == 1);
  if (!opened) {
    output_trouble_ = opened.error().message;
    output_ = -1;
    return false;
  }
  const std::string line =
      fmt::format("[partita: attempt {} writes to {}]\n", key_.number, start_.output);
  if (::write(kept.get(), line.data(), line.size()) < 0) output_trouble_ = {};  // the disk is full
  output_ = *opened;
  return true;
}

bool Supervision::begin() {
  Pipe pipe;
  const Fd script(start_.script.empty() ? -1 : make_script(start_));
  const std::vector<std::string> argv = start_.script.empty() ? start_.argv : script_argv(start_);
  const bool made = start_.script.empty() || script.get() >= 0;
  child_ = made ? run_child(argv, start_, pipe_->ends[1], pipe.ends[1], script.get()) : -1;
  const std::string trouble =
      child_ < 0 ? std::string("no process can be made") : pipe.read_to_end();
  FAILPOINT(supervisor_forked);
  if (trouble.empty()) return true;
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
  remove_cgroup(start_.confinement.cgroup);
  refuse(trouble);
  return false;
}

// Whatever the job left behind, in its group or, where there is one, in its cgroup.
void Supervision::kill_all() {
  send(SIGKILL);
  kill_cgroup(start_.confinement.cgroup);
}

void Supervision::run_checkpoint() {
  Pipe pipe;
  Start start = start_;
  start.environment.push_back(fmt::format("PARTITA_PID={}", child_));
  const pid_t child = run_child(start.checkpoint, start, pipe_->ends[1], pipe.ends[1]);
  const std::string trouble =
      child < 0 ? std::string("no process can be made") : pipe.read_to_end();
  if (!trouble.empty()) return tell("the checkpoint command cannot be run: " + trouble);
  const Micros until = steady_now() + kCheckpointTime;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    // Somebody may want it stopped for good meanwhile.
    const bool at_once = !files_.read_stop(key_).value_or(true);
    if (at_once || steady_now() > until) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      return tell(at_once ? "the checkpoint command was ended: the job is stopped at once"
                          : "the checkpoint command took too long and was ended");
    }
    look_around(Micros{20'000});  // the job may have to write to get there
  }
  if (status != 0) tell("the checkpoint command failed");
}

// A line of ours among the job's own, where its owner looks.
void Supervision::tell(const std::string& what) {
  const std::string line = "partita: " + what.substr(0, 400) + "\n";
  pollfd space{pipe_->ends[1], POLLOUT, 0};  // a pipe with space has space for a line
  if (::poll(&space, 1, 0) != 1 || (space.revents & POLLOUT) == 0) return;
  if (::write(pipe_->ends[1], line.data(), line.size()) < 0) return;  // nothing to tell it with
}

void Supervision::begin_to_stop() {
  stopping_ = true;
  send(SIGTERM);
  send(SIGCONT);
  stop_at_ = steady_now() + kStopGrace;
}

void Supervision::stop_if_asked(bool poked) {
  if (stopping_ || !poked) return;
  const auto asked = files_.read_stop(key_);
  if (!asked) return;
  stopping_ = true;
  if (*asked && !start_.checkpoint.empty()) run_checkpoint();
  begin_to_stop();
}

// At its time limit, and for good when it had time to end by itself.
void Supervision::stop_in_time() {
  const bool limited = start_.time_limit > Micros{};
  if (limited && !stopping_ && steady_now() - began_at_ >= start_.time_limit) {
    over_time_ = true;
    begin_to_stop();
  }
  if (stopping_ && !killed_ && steady_now() >= stop_at_) {
    killed_ = true;
    kill_all();
  }
}

// Waits for a signal or for output, and takes both; whether to look for a wish to stop.
bool Supervision::look_around(Micros at_most) {
  std::array<pollfd, 2> watched{
      {{signals_, POLLIN, 0}, {output_open_ ? pipe_->ends[0] : -1, POLLIN, 0}}};
  ::poll(watched.data(), watched.size(), static_cast<int>((at_most.count + 999) / 1000));
  if (watched[1].revents != 0) output_open_ = copy_->copy_available(kLastBytes);
  bool poked = false;
  signalfd_siginfo signal{};
  while (::read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    poked = poked || signal.ssi_signo == SIGUSR1;
  }
  if (steady_now() - looked_at_ < kLookAgain) return poked;
  looked_at_ = steady_now();
  return true;
}

// Leaves the child as a zombie, so that its id stays its own until its end is written.
void Supervision::wait_for_end() {
  bool poked = true;  // the wish may be older than we are
  for (;;) {
    ended_ = siginfo_t{};
    const int waited =
        ::waitid(P_PID, static_cast<id_t>(child_), &ended_, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 && ended_.si_pid == child_) return;
    stop_if_asked(poked);
    stop_in_time();
    tell_start();
    Micros wait = kLookAgain;
    if (start_.time_limit > Micros{} && !stopping_) {
      wait = std::min(wait, began_at_ + start_.time_limit - steady_now());
    }
    if (stopping_ && !killed_) wait = std::min(wait, stop_at_ - steady_now());
    poked = look_around(std::max(Micros{}, wait));
  }
}

int Supervision::run() {
  FAILPOINT(supervisor_begun);
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGUSR1);
  signals_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  lock_ = files_.lock(key_);
  if (lock_ < 0) return 0;
  FAILPOINT(supervisor_locked);
  Result<Start> start = files_.read_spec(key_);
  if (!start) ::unlink(files_.path(key_, "lock").c_str());  // forgotten before we came
  if (!start || !files_.claim(key_)) return 0;
  // A daemon that revoked and forgot the attempt since we read it removed this first, and its own
  // claim last.
  if (!files_.read_spec(key_).ok()) return 0;
  FAILPOINT(supervisor_claimed);
  start_ = *std::move(start);
  if (!open_output()) {
    const bool no_space = output_trouble_.empty() && (errno == ENOSPC || errno == EDQUOT);
    return refuse(output_trouble_.empty()
                      ? "its output cannot be kept: " + std::string(std::strerror(errno))
                      : "its output cannot be written: " + output_trouble_,
                  no_space ? Report::Kind::kNoSpace : Report::Kind::kNotStarted);
  }
  if (!start_.confinement.cgroup.empty()) {
    const Status made = make_cgroup(start_.confinement);
    if (!made) {
      remove_cgroup(start_.confinement.cgroup);
      return refuse("it cannot be confined: " + made.error().message);
    }
  }
  began_at_ = steady_now();
  if (!begin()) return 0;
  started_at_ = now();
  tell_start();
  FAILPOINT(supervisor_pid_written);
  wait_for_end();
  FAILPOINT(supervisor_job_ended);
  return write_end();
}

int Supervision::write_end() {
  kill_all();
  // Not called "out of memory": that of the GPU is meant by it, and a larger slice would not help.
  const std::string& cgroup = start_.confinement.cgroup;
  if (!cgroup.empty() && ended_for_memory(cgroup)) {
    tell("the kernel ended a process of it: it used more of the machine's memory than a job may");
  }
  if (output_open_) copy_->copy_available(kLastBytes);
  // What was reserved behind the end and not needed is given back.
  struct stat output {};
  [[maybe_unused]] const bool given_back =
      ::fstat(output_, &output) == 0 && ::ftruncate(output_, output.st_size) == 0;
  remove_cgroup(start_.confinement.cgroup);
  Report report;
  report.kind = Report::Kind::kEnded;
  report.pid = child_;
  const bool exited = ended_.si_code == CLD_EXITED;
  report.exit_code = exited ? ended_.si_status : -1;
  report.signal = exited ? 0 : ended_.si_status;
  report.over_time = over_time_;
  if (report.exit_code != 0) report.message = copy_->tail();
  for (char& c : report.message) c = c == '\0' ? ' ' : c;
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
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  return Supervision(folder, key).run();
}

}  // namespace partita::launch
