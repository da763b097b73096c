// Accounts: names of the machine's users, asked for once in a while.
//
// Behind them may be a directory on another machine, and the daemon has one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"

namespace partita::daemon {

class Accounts {
 public:
  // `clock` outlives it.
  explicit Accounts(Clock& clock) : clock_(clock) {}

  // Its number where there is no account.
  std::string name_of(std::uint32_t uid);
  std::optional<std::uint32_t> uid_of(const std::string& name);

 private:
  template <typename Value>
  struct Known {
    Value value;
    Micros at;
  };

  Clock& clock_;
  std::map<std::uint32_t, Known<std::string>> names_;
  std::map<std::string, Known<std::optional<std::uint32_t>>> uids_;
};

}  // namespace partita::daemon
