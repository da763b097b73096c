// daemon-soak FOLDER [MINUTES]: whether the daemon holds on to what it should let go of.
//
// It keeps few ended jobs, so that what grows once there are as many is a leak. All the while
// clients submit short jobs at about half of what the GPUs hold, wait for them, read their output,
// cancel some, and open and close connections. Prints memory, descriptors and threads
// of the daemon once a minute, and at the end the slope of its memory over the second half.
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "live/daemon_process.h"

namespace {

using partita::live_test::DaemonProcess;
using Clock = std::chrono::steady_clock;

constexpr int kClients = 12;
constexpr int kSampleSeconds = 5;

struct Sample {
  double hours = 0;
  double rss_mib = 0;
  int descriptors = 0;
  int threads = 0;
};

struct Counts {
  std::atomic<int> done = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> errors = 0;
};

int entries_of(const std::string& path) {
  int count = -2;  // . and ..
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) return 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

Sample sample_of(pid_t pid, Clock::time_point begun) {
  const std::string process = fmt::format("/proc/{}", pid);
  long pages = 0;
  std::ifstream(process + "/statm") >> pages >> pages;
  return {std::chrono::duration<double>(Clock::now() - begun).count() / 3600,
          static_cast<double>(pages * ::sysconf(_SC_PAGESIZE)) / (1 << 20),
          entries_of(process + "/fd"), entries_of(process + "/task")};
}

// Mebibytes an hour, by least squares.
double slope_of(const std::vector<Sample>& samples) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Sample& each : samples) {
    ++n, x += each.hours, y += each.rss_mib;
    xx += each.hours * each.hours, xy += each.hours * each.rss_mib;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

// One job from its submission to its end.
void live_once(const DaemonProcess& daemon, partita::Rng& rng, Counts& counts) {
  const std::string seconds = fmt::format("{:.2f}", rng.uniform(0.1, 1.5));
  const bool fails = rng.below(8) == 0;
  const std::vector<std::string> argv = fails ? std::vector<std::string>{"/bin/false"}
                                              : std::vector<std::string>{"/bin/sleep", seconds};
  const auto body = partita::live_test::submission(argv, "", rng.uniform(1, 9));
  const auto accepted = daemon.ask("POST", "/v1/jobs", body);
  if (!accepted.good()) return void(++counts.errors);
  const std::string path = fmt::format("/v1/jobs/{}", accepted.json()["jobs"][0].get<int>());
  if (rng.below(10) == 0) daemon.ask("DELETE", path);
  for (;;) {
    const auto answer = daemon.ask("GET", path);
    if (!answer.good()) return void(++counts.errors);
    const std::string state = answer.json()["state"].get<std::string>();
    if (state == "done") ++counts.done;
    if (state == "failed") ++counts.failed;
    if (state == "cancelled") ++counts.cancelled;
    if (state == "lost" || (state == "failed" && !fails)) ++counts.errors;
    if (state == "done" || state == "failed" || state == "cancelled" || state == "lost") break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  if (!daemon.ask("GET", path + "/output").good()) ++counts.errors;
}

void tell(const Sample& sample, const Counts& counts) {
  fmt::print(
      "{:6.1f} min  {:7.2f} MiB  {:3} descriptors  {} threads  {} done, {} failed, {} "
      "cancelled, {} errors\n",
      sample.hours * 60, sample.rss_mib, sample.descriptors, sample.threads, counts.done.load(),
      counts.failed.load(), counts.cancelled.load(), counts.errors.load());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const double minutes = argc > 2 ? std::strtod(argv[2], nullptr) : 30;
  DaemonProcess daemon(argv[1], "simulated:4xa100-40gb,change-time=0.1");
  if (!daemon.start({"--jobs-kept", "2000"})) return 1;
  const Clock::time_point begun = Clock::now();
  const auto end = begun + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double, std::ratio<60>>(minutes));
  Counts counts;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      partita::Rng rng(1, static_cast<std::uint64_t>(i));
      while (Clock::now() < end) live_once(daemon, rng, counts);
    });
  }
  std::vector<Sample> second_half;
  for (int i = 0; Clock::now() < end; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds(kSampleSeconds));
    if (!daemon.ask("GET", "/metrics").good()) ++counts.errors;
    const Sample sample = sample_of(daemon.pid(), begun);
    if (sample.hours * 60 > minutes / 2) second_half.push_back(sample);
    if (i % (60 / kSampleSeconds) == 0) tell(sample, counts);
  }
  for (std::thread& client : clients) client.join();
  fmt::print("memory grew by {:.2f} MiB an hour over the second half\n", slope_of(second_half));
  return daemon.stop() == 0 && counts.errors == 0 ? 0 : 1;
}
