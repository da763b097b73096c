// probe-job: prints as JSON what a job is and has: ids, groups, capabilities, descriptors, cgroup.
#include <dirent.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

std::vector<int> descriptors() {
  std::vector<int> found;
  DIR* folder = ::opendir("/proc/self/fd");
  while (const dirent* each = ::readdir(folder)) {
    if (each->d_name[0] == '.') continue;
    const int fd = static_cast<int>(std::strtol(each->d_name, nullptr, 10));
    if (fd != ::dirfd(folder)) found.push_back(fd);
  }
  ::closedir(folder);
  return found;
}

std::string status_field(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  nlohmann::ordered_json json;
  uid_t user[3];
  gid_t group[3];
  if (::getresuid(&user[0], &user[1], &user[2]) != 0) return 1;
  if (::getresgid(&group[0], &group[1], &group[2]) != 0) return 1;
  std::vector<gid_t> groups(64);
  groups.resize(static_cast<std::size_t>(::getgroups(64, groups.data())));
  json["uids"] = user;
  json["gids"] = group;
  json["groups"] = groups;
  json["descriptors"] = descriptors();
  for (const char* name : {"CapInh", "CapPrm", "CapEff", "CapAmb", "SigBlk", "SigIgn"}) {
    json[name] = status_field(name);
  }
  json["no_new_privs"] = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  json["own_group"] = ::getpgrp() == ::getpid();
  std::ifstream cgroup("/proc/self/cgroup");
  for (std::string line; std::getline(cgroup, line);) {
    if (line.starts_with("0::")) json["cgroup"] = line.substr(3);
  }
  json["arguments"] = std::vector<std::string>(argv, argv + argc);
  for (char** each = ::environ; *each != nullptr; ++each) {
    json["environment"].push_back(std::string(*each));
  }
  fmt::print("{}\n", json.dump());
  return 0;
}
