// TokenFile: the tokens of a daemon on disk, STATE/tokens, and TokenBook, the daemon's view of it.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "api/tokens.h"
#include "base/units.h"

namespace partita::daemon {

// Changes are one at a time, whole or not at all; the file is its owner's alone (0600).
class TokenFile {
 public:
  // `state`: the folder of the daemon.
  explicit TokenFile(const std::string& state) : path_(state + "/tokens") {}

  const std::string& path() const { return path_; }
  // None when there is no file. Refuses one that others may read or write, or that is not ours.
  Result<std::vector<api::TokenRow>> read() const;
  // Reads, changes and writes, while no other program does.
  Status change(const std::function<Status(std::vector<api::TokenRow>&)>& how) const;

 private:
  Status write(const std::vector<api::TokenRow>& rows) const;

  std::string path_;
};

// Looks whether the file is another one at every question, so that what is revoked is so at once.
class TokenBook {
 public:
  TokenBook(const std::string& state, std::function<void(const std::string&)> say)
      : file_(state), say_(std::move(say)) {}

  // Null: unknown, revoked or expired. Valid until the next call.
  const api::TokenRow* find(std::string_view secret, Micros now);
  bool is_good(std::string_view id, Micros now);

 private:
  void refresh();

  TokenFile file_;
  std::function<void(const std::string&)> say_;
  std::vector<api::TokenRow> rows_;
  struct stat seen_ {};
  bool looked_ = false;
};

}  // namespace partita::daemon
