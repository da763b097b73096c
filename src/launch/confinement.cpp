#include "launch/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "launch/system_calls.h"

namespace partita::launch {
namespace {

constexpr const char* kDaemonLeaf = "partita-daemon";
constexpr const char* kControllers = "+memory +pids";
constexpr int kMakeTries = 100;
constexpr int kRemoveTries = 100;

Status put(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return failed(path);
  const bool good = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const Status status = good ? Status() : Status(failed(path));
  ::close(fd);
  return status;
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return failed(path);
  return {};
}

// "ROOT MOUNT" of the cgroup2 hierarchy, from a line of mountinfo such as
// 41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
struct Mount {
  std::string root;
  std::string place;
};
std::optional<Mount> find_mount() {
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - cgroup2 ");
    if (dash == std::string::npos) continue;
    std::istringstream words(line.substr(0, dash));
    std::string skipped;
    Mount mount;
    words >> skipped >> skipped >> skipped >> mount.root >> mount.place;
    return mount;
  }
  return {};
}

// "0::/system.slice/partita.service"
std::optional<std::string> own_path() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return {};
}

Result<std::string> own_folder() {
  const auto mount = find_mount();
  const auto path = own_path();
  if (!mount || !path) return Error{"the machine has no cgroups of version 2"};
  std::string below = *path;
  if (mount->root != "/" && below.starts_with(mount->root)) below.erase(0, mount->root.size());
  if (below.ends_with(std::string("/") + kDaemonLeaf)) {
    below.erase(below.size() - std::strlen(kDaemonLeaf) - 1);
  }
  return mount->place + (below == "/" ? "" : below);
}

bool has_controllers(const std::string& base) {
  std::ifstream file(base + "/cgroup.controllers");
  bool memory = false;
  bool pids = false;
  for (std::string name; file >> name;) {
    memory = memory || name == "memory";
    pids = pids || name == "pids";
  }
  return memory && pids;
}

// A cgroup that hands controllers down holds no process itself.
Status hand_down(const std::string& base) {
  if (!has_controllers(base)) return Error{base + " has no controllers of memory and processes"};
  const std::string leaf = base + "/" + kDaemonLeaf;
  Status done = make_folder(leaf);
  if (done.ok()) done = put(leaf + "/cgroup.procs", "0");
  if (done.ok()) done = put(base + "/cgroup.subtree_control", kControllers);
  if (done.ok()) return done;
  // Others are in it, perhaps: we go back to them.
  if (put(base + "/cgroup.procs", "0").ok()) ::rmdir(leaf.c_str());
  return done;
}

// The folder of all attempts comes with the first of them and goes with the last, so that none is
// left when nobody is there any more to remove it; another may remove it while we look.
Status make_attempt(const std::string& folder, bool limited) {
  const std::string all = folder.substr(0, folder.rfind('/'));
  Status done;
  for (int i = 0; i < kMakeTries; ++i) {
    done = make_folder(all);
    if (done.ok() && limited) done = put(all + "/cgroup.subtree_control", kControllers);
    if (done.ok()) done = make_folder(folder);
    if (done.ok()) return done;
  }
  return done;
}

}  // namespace

Result<std::string> open_cgroups(const std::string& state, bool limits) {
  struct stat named {};
  if (::stat(state.c_str(), &named) != 0) return failed(state);
  const Result<std::string> base = own_folder();
  if (!base) return base.error();
  const std::string folder =
      fmt::format("{}/partita-jobs-{:x}-{:x}", *base, named.st_dev, named.st_ino);
  Status done = make_folder(folder);
  if (done.ok() && ::access((folder + "/cgroup.procs").c_str(), W_OK) != 0) done = failed(folder);
  if (done.ok() && ::access((folder + "/cgroup.kill").c_str(), W_OK) != 0) {
    done = Error{"the kernel has no cgroup.kill (Linux 5.14)"};
  }
  ::rmdir(folder.c_str());  // unless there is something in it
  if (done.ok() && limits) done = hand_down(*base);
  if (!done) return done.error();
  return folder;
}

Status try_device_rules(const std::string& cgroups) {
  Confinement confinement;
  confinement.cgroup = cgroups + "/try";
  confinement.devices.governed = {195};  // any will do: nothing is run in it
  const Status made = make_cgroup(confinement);
  remove_cgroup(confinement.cgroup);
  return made;
}

Status make_cgroup(const Confinement& confinement) {
  const bool limited = confinement.memory_max > 0 || confinement.pids_max > 0;
  Status done = make_attempt(confinement.cgroup, limited);
  if (done.ok() && confinement.memory_max > 0) {
    done = put(confinement.cgroup + "/memory.max", std::to_string(confinement.memory_max));
    // Nor swap instead, where there is any; and who goes beyond it goes whole, not a process of it.
    for (const auto& [name, value] :
         {std::pair("/memory.swap.max", "0"), {"/memory.oom.group", "1"}}) {
      const Status set = put(confinement.cgroup + name, value);
      if (!set) continue;  // a kernel without it
    }
  }
  if (done.ok() && confinement.pids_max > 0) {
    done = put(confinement.cgroup + "/pids.max", std::to_string(confinement.pids_max));
  }
  if (done.ok() && !confinement.devices.empty()) {
    done = attach_device_rules(confinement.cgroup, confinement.devices);
  }
  return done;
}

bool enter_cgroup(const std::string& folder) {
  return put(folder + "/cgroup.procs", "0").ok();
}

void kill_cgroup(const std::string& folder) {
  if (folder.empty()) return;
  const Status done = put(folder + "/cgroup.kill", "1");
  if (!done) return;  // gone already
}

bool ended_for_memory(const std::string& folder) {
  std::ifstream events(folder + "/memory.events");
  std::string name;
  for (std::int64_t count = 0; events >> name >> count;) {
    if (name == "oom_kill") return count > 0;
  }
  return false;
}

void remove_cgroup(const std::string& folder) {
  if (folder.empty()) return;
  for (int i = 0; i < kRemoveTries; ++i) {
    if (::rmdir(folder.c_str()) == 0 || errno != EBUSY) break;
    ::usleep(5'000);
  }
  ::rmdir(folder.substr(0, folder.rfind('/')).c_str());  // unless others are in it
}

}  // namespace partita::launch
