#include "daemon/token_authenticator.h"

#include "api/authentication.h"

namespace partita::daemon {

std::variant<api::Caller, api::Response> TokenAuthenticator::authenticate(
    const api::Request& request, const api::Address& own) {
  if (auto refusal = api::refuse_foreign(request, own)) return *std::move(refusal);
  const auto secret = api::bearer_of(request);
  const api::TokenRow* row = secret ? book_.find(*secret, clock_.now()) : nullptr;
  if (row == nullptr) return api::unknown_caller();
  // Root's own token is no admin's by itself: what it may do is what its scope says.
  return api::Caller{row->uid,   row->gid, row->scope == api::Scope::kAdmin,
                     row->scope, row->id,  row->uid == api::kNoAccountUid};
}

bool TokenAuthenticator::still_valid(const api::Caller& caller) {
  return book_.is_good(caller.token, clock_.now());
}

}  // namespace partita::daemon
