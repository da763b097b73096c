// The file of quotas, with the machine's users and groups.
#pragma once

#include <string>

#include "control/quotas/quota_rules.h"

namespace partita::daemon {

Result<control::QuotaRules> read_quotas(const std::string& path);

}  // namespace partita::daemon
