#include "cli/output/temporaries.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

namespace partita::cli {
namespace {

constexpr std::size_t kPathBytesMax = 4096;

// A signal handler may look at nothing but such memory: no locks, no allocation.
struct Place {
  std::array<char, kPathBytesMax> path{};
  std::atomic<bool> used = false;
};
std::array<Place, 8> places;

void remove_and_die(int signal) {
  for (const Place& place : places) {
    if (place.used.load()) ::unlink(place.path.data());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void remember_temporary(const std::string& path) {
  if (path.size() >= kPathBytesMax) return;
  for (Place& place : places) {
    if (place.used.load()) continue;
    std::memcpy(place.path.data(), path.c_str(), path.size() + 1);
    place.used.store(true);
    return;
  }
}

void forget_temporary(const std::string& path) {
  for (Place& place : places) {
    if (place.used.load() && path == place.path.data()) place.used.store(false);
  }
}

void remove_temporaries_on_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    // One that was ignored stays so: nohup.
    if (std::signal(signal, remove_and_die) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace partita::cli
