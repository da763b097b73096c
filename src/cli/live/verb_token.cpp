#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/tokens.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/flags/live_values.h"
#include "cli/live/daemon_client.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "daemon/token_file.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t now_seconds() {
  return static_cast<std::int64_t>(real_clock().now().to_seconds());
}

struct Account {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string name = {};  // of one that this machine does not have
};

Result<Account> account_of(const Values& values) {
  if (!values.is_set("user")) return Account{::getuid(), ::getgid()};
  const std::string name = values.text("user");
  const auto number = parse_int(name);
  const passwd* user = ::getpwnam(name.c_str());
  if (user == nullptr && number && *number >= 0 && *number < 0xffffffffLL) {
    user = ::getpwuid(static_cast<uid_t>(*number));
  }
  if (user != nullptr) return Account{user->pw_uid, user->pw_gid};
  if (number || !api::is_token_name(name)) {
    return Error{fmt::format("--user: this machine has no user '{}'", name)};
  }
  // Jobs run as a user of the machine, so whoever is none cannot have any.
  if (values.as<api::Scope>("scope") == api::Scope::kSubmit) {
    return Error{
        fmt::format("--user: this machine has no user '{}', and jobs must run as one; the scopes "
                    "read and admin "
                    "need none",
                    name)};
  }
  return Account{api::kNoAccountUid, api::kNoAccountUid, name};
}

std::string user_name(const api::TokenRow& row) {
  if (!row.name.empty()) return row.name;
  const passwd* user = ::getpwuid(row.uid);
  return user == nullptr ? std::to_string(row.uid) : user->pw_name;
}

Json row_json(const api::TokenRow& row) {
  Json json;
  json["id"] = row.id;
  json["scope"] = api::name_of(row.scope);
  json["user"] = user_name(row);
  json["uid"] = row.name.empty() ? Json(row.uid) : Json();
  json["created_s"] = row.created_s;
  json["expires_s"] = row.expires_s;
  json["expired"] = now_seconds() >= row.expires_s;
  return json;
}

Outcome create(const daemon::TokenFile& file, const Values& values, Console& console) {
  const Result<Account> account = account_of(values);
  if (!account) return account.error();
  api::TokenRow row;
  row.scope = values.as<api::Scope>("scope");
  row.uid = account->uid;
  row.gid = account->gid;
  row.name = account->name;
  row.created_s = now_seconds();
  const auto span = static_cast<std::int64_t>(values.as<Micros>("expires").to_seconds());
  row.expires_s = row.created_s + std::max<std::int64_t>(1, span);
  const Result<api::NewToken> made = api::make_token(std::move(row));
  if (!made) return made.error();
  const Status kept = file.change([&](std::vector<api::TokenRow>& rows) -> Status {
    if (rows.size() >= api::kTokensMax) {
      return Error{fmt::format("there are {} tokens; revoke some first", rows.size())};
    }
    rows.push_back(made->row);
    return {};
  });
  if (!kept) return kept.error();
  if (!account->name.empty()) {
    warn(
        fmt::format("{} is no user of this machine: the token has no jobs of its own and submits "
                    "none",
                    account->name));
  }
  Json json = row_json(made->row);
  json["token"] = made->secret;
  return print_either(values, console, json, made->secret + "\n");
}

Outcome list(const daemon::TokenFile& file, const Values& values, Console& console) {
  const auto rows = file.read();
  if (!rows) return rows.error();
  Json json = Json::array();
  Table table({{"token", Align::kLeft},
               {"scope", Align::kLeft},
               {"user", Align::kLeft},
               {"made", Align::kLeft},
               {"good until", Align::kLeft},
               {"", Align::kLeft}});
  for (const api::TokenRow& row : *rows) {
    json.push_back(row_json(row));
    table.add({row.id, std::string(api::name_of(row.scope)), user_name(row),
               shown_instant(static_cast<double>(row.created_s)),
               shown_instant(static_cast<double>(row.expires_s)),
               now_seconds() >= row.expires_s ? "expired" : ""});
  }
  return print_either(values, console, json, table.text(console.bold));
}

Outcome revoke(const daemon::TokenFile& file, const Values& values, Console& console) {
  if (!values.is_set("ID")) {
    return Error{"the ID of a token is missing; `partita token list` names them"};
  }
  const std::string id = values.text("ID");
  bool found = false;
  const Status changed = file.change([&](std::vector<api::TokenRow>& rows) -> Status {
    found = std::erase_if(rows, [&](const api::TokenRow& row) { return row.id == id; }) > 0;
    return {};
  });
  if (!changed) return changed.error();
  if (!found) {
    complain(fmt::format("there is no token {}; `partita token list` names them", id));
    return 1;
  }
  return print_either(values, console, Json{{"revoked", id}}, "");
}

}  // namespace

Outcome run_token(const Values& values, Console& console) {
  if (!values.is_set("DO")) return Error{"token wants create, list or revoke"};
  const std::string state = values.is_set("state") ? values.text("state") : default_state();
  std::error_code failed;
  if (!std::filesystem::is_directory(state, failed)) {
    return Error{fmt::format(
        "{} is no state folder of a daemon; name it with --state, or start the daemon once",
        state)};
  }
  const daemon::TokenFile file(state);
  const std::string what = values.text("DO");
  if (what == "create") return create(file, values, console);
  if (what == "list") return list(file, values, console);
  return revoke(file, values, console);
}

}  // namespace partita::cli
