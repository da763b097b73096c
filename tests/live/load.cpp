// daemon-load FOLDER [CLIENTS] [SECONDS] [POLICY]: durable submissions a second, and how long each
// waited.
//
// Ends early when the queue is full (100,000 jobs), since what is refused costs nothing.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "live/daemon_process.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

void submit_until(const std::string& socket, Clock::time_point end, int client,
                  std::atomic<bool>& full, std::vector<double>& waits) {
  partita::cli::DaemonClient connection(socket);
  for (int i = 0; Clock::now() < end && !full; ++i) {
    const std::string body =
        partita::live_test::submission({"/bin/sleep", "600"}, fmt::format("{}-{}", client, i), 3);
    const Clock::time_point begun = Clock::now();
    if (connection.ask("POST", "/v1/jobs", body).good()) {
      waits.push_back(milliseconds(Clock::now() - begun));
    } else {
      full = true;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int clients = argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 64;
  const double seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 10;
  partita::live_test::DaemonProcess daemon(argv[1], "simulated:2xa100-40gb");
  std::vector<std::string> words;
  if (argc > 4) words.insert(words.end(), {"--policy", argv[4]});
  if (!daemon.start(words)) return 1;
  std::vector<std::vector<double>> waits(static_cast<std::size_t>(clients));
  std::vector<std::thread> threads;
  std::atomic<bool> full = false;
  const Clock::time_point begun = Clock::now();
  const Clock::time_point end =
      begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      submit_until(daemon.socket(), end, i, full, waits[static_cast<std::size_t>(i)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double took = milliseconds(Clock::now() - begun) / 1e3;
  std::vector<double> all;
  for (const auto& each : waits) all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());
  if (all.empty()) return 1;
  fmt::print("{} clients: {:.0f} submissions/s, p50 {:.1f} ms, p99 {:.1f} ms, most {:.1f} ms\n",
             clients, static_cast<double>(all.size()) / took, all[all.size() / 2],
             all[all.size() * 99 / 100], all.back());
  for (const auto& job : daemon.get("/v1/jobs?state=running")["jobs"]) {
    daemon.ask("DELETE", fmt::format("/v1/jobs/{}", job["id"].get<std::int64_t>()));
  }
  daemon.stop();
  return 0;
}
