#include "live/daemon_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace partita::live_test {
namespace {

constexpr double kStartSeconds = 30;

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::vector<char*> pointers(const std::vector<std::string>& list) {
  std::vector<char*> array;
  for (const std::string& each : list) array.push_back(const_cast<char*>(each.c_str()));
  array.push_back(nullptr);
  return array;
}

pid_t spawn(const std::vector<std::string>& words, const std::vector<std::string>& environment,
            const std::string& output) {
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execve(arguments[0], arguments.data(), variables.data());
  ::_exit(127);
}

}  // namespace

DaemonProcess::DaemonProcess(std::string folder, std::string backend)
    : folder_(std::move(folder)), backend_(std::move(backend)), socket_(folder_ + "/s") {}

// In a sanitized build the daemon tells of its own mistakes; no test passes over them.
DaemonProcess::~DaemonProcess() {
  kill_now();
  const std::string said = this->said();
  if (said.find("Sanitizer") == std::string::npos &&
      said.find("runtime error") == std::string::npos)
    return;
  std::fputs(said.c_str(), stderr);
  std::abort();
}

bool DaemonProcess::start(const std::vector<std::string>& more_words,
                          const std::vector<std::string>& environment) {
  std::vector<std::string> words{program(),  "serve",          "--backend",
                                 backend_,   "--state",        folder_ + "/state",
                                 "--listen", "unix:" + socket_};
  words.insert(words.end(), more_words.begin(), more_words.end());
  std::vector<std::string> variables{"PATH=/usr/bin:/bin", "HOME=" + folder_};
  variables.insert(variables.end(), environment.begin(), environment.end());
  pid_ = spawn(words, variables, folder_ + "/said");
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    if (has_ended()) return false;
    if (ask("GET", "/v1/status").good()) return true;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begun;
    if (waited.count() > kStartSeconds) return false;
    pause(10);
  }
}

bool DaemonProcess::has_ended() {
  if (pid_ < 0) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  status_ = status_of(status);
  pid_ = -1;
  return true;
}

bool DaemonProcess::ends_within(double seconds) {
  for (int i = 0; i < static_cast<int>(seconds * 50); ++i) {
    if (has_ended()) return true;
    pause(20);
  }
  return has_ended();
}

void DaemonProcess::kill_now() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int DaemonProcess::stop() {
  if (pid_ < 0) return -1;
  ::kill(pid_, SIGTERM);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status_of(status);
}

std::string DaemonProcess::said() const {
  std::ifstream in(folder_ + "/said");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

cli::DaemonAnswer DaemonProcess::ask(std::string_view method, const std::string& path,
                                     const std::string& body) const {
  cli::DaemonClient client(socket_);
  return client.ask(method, path, body);
}

nlohmann::ordered_json DaemonProcess::get(const std::string& path) const {
  const cli::DaemonAnswer answer = ask("GET", path);
  return answer.good() ? answer.json() : nlohmann::ordered_json();
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

int run_to_end(const std::vector<std::string>& words, const std::string& output) {
  const pid_t child = spawn(words, {"PATH=/usr/bin:/bin"}, output);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status_of(status);
}

std::string program() {
  return PARTITA_PROGRAM;
}
std::string job_program() {
  return PARTITA_JOB_PROGRAM;
}
std::string probe_program() {
  return PARTITA_PROBE_PROGRAM;
}
std::string grow_program() {
  return PARTITA_GROW_PROGRAM;
}

std::string submission(const std::vector<std::string>& argv, const std::string& key,
                       std::optional<double> memory_gib, int count) {
  nlohmann::ordered_json json;
  json["argv"] = argv;
  json["directory"] = "/";
  json["key"] = key;
  json["array"] = count;
  json["name"] = "test";
  if (memory_gib) json["memory_gib"] = *memory_gib;
  return json.dump();
}

}  // namespace partita::live_test
