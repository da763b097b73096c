#include "daemon/quota_file.h"

#include <grp.h>
#include <pwd.h>

#include "base/whole_file.h"

namespace partita::daemon {

Result<control::QuotaRules> read_quotas(const std::string& path) {
  const Result<std::string> text = read_whole_file(path);
  if (!text) return text.error();
  const control::AccountNumbers accounts{
      .user = [](const std::string& name) -> std::optional<std::uint32_t> {
        const passwd* user = ::getpwnam(name.c_str());
        if (user == nullptr) return {};
        return user->pw_uid;
      },
      .group = [](const std::string& name) -> std::optional<std::uint32_t> {
        const group* found = ::getgrnam(name.c_str());
        if (found == nullptr) return {};
        return found->gr_gid;
      }};
  return control::parse_quotas(*text, path, accounts);
}

}  // namespace partita::daemon
