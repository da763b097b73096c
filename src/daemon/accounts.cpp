#include "daemon/accounts.h"

#include <pwd.h>

namespace partita::daemon {
namespace {

constexpr Micros kGoodFor = Micros::seconds(300);
// Names come from callers, so what is remembered of them is limited.
constexpr std::size_t kNamesMax = 10'000;

}  // namespace

std::string Accounts::name_of(std::uint32_t uid) {
  const Micros now = clock_.now();
  const auto found = names_.find(uid);
  if (found != names_.end() && now - found->second.at < kGoodFor) return found->second.value;
  const passwd* user = ::getpwuid(uid);
  Known<std::string> known{user == nullptr ? std::to_string(uid) : user->pw_name, now};
  if (names_.size() >= kNamesMax) names_.clear();
  return names_.insert_or_assign(uid, std::move(known)).first->second.value;
}

std::optional<std::uint32_t> Accounts::uid_of(const std::string& name) {
  const Micros now = clock_.now();
  const auto found = uids_.find(name);
  if (found != uids_.end() && now - found->second.at < kGoodFor) return found->second.value;
  const passwd* user = ::getpwnam(name.c_str());
  Known<std::optional<std::uint32_t>> known{{}, now};
  if (user != nullptr) known.value = user->pw_uid;
  if (uids_.size() >= kNamesMax) uids_.clear();
  return uids_.insert_or_assign(name, known).first->second.value;
}

}  // namespace partita::daemon
