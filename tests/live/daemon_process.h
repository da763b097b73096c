// DaemonProcess: the built daemon as tests run it: started, asked, killed and started again.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/live/daemon_client.h"

namespace partita::live_test {

class DaemonProcess {
 public:
  // `folder` holds the state and the socket.
  DaemonProcess(std::string folder, std::string backend);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Starts it and waits until it answers. False: it ended before.
  bool start(const std::vector<std::string>& more_words = {},
             const std::vector<std::string>& environment = {});
  void kill_now();  // SIGKILL
  int stop();       // SIGTERM; its exit status
  // Whether it has ended by itself.
  bool has_ended();
  // Waits until it has, at most so long.
  bool ends_within(double seconds);

  pid_t pid() const { return pid_; }
  const std::string& socket() const { return socket_; }
  const std::string& folder() const { return folder_; }
  // What it said on stderr.
  std::string said() const;

  cli::DaemonAnswer ask(std::string_view method, const std::string& path,
                        const std::string& body = "") const;
  nlohmann::ordered_json get(const std::string& path) const;

 private:
  std::string folder_;
  std::string backend_;
  std::string socket_;
  pid_t pid_ = -1;
  int status_ = 0;
};

// The exit status of a child; 128 + the signal that ended it.
int status_of(int wait_status);

// Runs a program to its end without a shell.
int run_to_end(const std::vector<std::string>& words, const std::string& output = "/dev/null");

std::string program();        // partita
std::string job_program();    // a job that writes down when it begins and ends
std::string probe_program();  // a job that prints what it is and has
std::string grow_program();   // examples/grow-memory

// The JSON of a submission.
std::string submission(const std::vector<std::string>& argv, const std::string& key,
                       std::optional<double> memory_gib = {}, int count = 1);

}  // namespace partita::live_test
