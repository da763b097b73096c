// What a test of crashes keeps: the jobs that were accepted, and what they noted themselves.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "live/daemon_process.h"

namespace partita::live_test {

class Life {
 public:
  explicit Life(DaemonProcess& daemon) : daemon_(daemon), notes_(daemon.folder() + "/notes") {}

  // Submits a job that runs so long; remembers it when it was accepted. A key without an answer is
  // asked for again later.
  void submit(const std::string& key, double seconds, std::optional<double> memory_gib);
  void submit_unanswered_again();
  void cancel_some();
  void cancel(const std::string& key);

  // Waits until every accepted job has ended. What is wrong then, or nothing.
  std::optional<std::string> settle(double seconds);
  // `reruns`: a job may have ended its work twice, because who watched it was killed.
  std::optional<std::string> check(bool reruns);

  std::size_t accepted() const { return accepted_.size(); }

 private:
  struct Wish {
    double seconds = 0;
    std::optional<double> memory_gib;
  };

  DaemonProcess& daemon_;
  std::string notes_;
  std::mutex mutex_;
  std::map<std::string, Wish> unanswered_;
  std::map<std::int64_t, std::string> accepted_;  // id to key
  std::set<std::int64_t> cancelled_;
};

}  // namespace partita::live_test
