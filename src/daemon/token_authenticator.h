// TokenAuthenticator: says who a caller on TCP is, by the tokens of the state folder.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "daemon/server.h"
#include "daemon/token_file.h"

namespace partita::daemon {

class TokenAuthenticator : public Authenticator {
 public:
  // `clock` outlives it; `say` gets a line when the tokens cannot be read.
  TokenAuthenticator(const std::string& state, Clock& clock,
                     std::function<void(const std::string&)> say)
      : book_(state, std::move(say)), clock_(clock) {}

  std::variant<api::Caller, api::Response> authenticate(const api::Request& request,
                                                        const api::Address& own) override;
  bool still_valid(const api::Caller& caller) override;

 private:
  TokenBook book_;
  Clock& clock_;
};

}  // namespace partita::daemon
