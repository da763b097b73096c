// Authentication on TCP: what a request must show before anything else is looked at.
//
// Any program on the machine reaches the port, browsers among them, whatever page they show. So the
// Host must be the port's own (a name that was made to point here is another), an Origin must be
// the port's own (a page of somebody else's is another), and every request must carry a token.
#pragma once

#include <optional>
#include <string>

#include "api/address.h"
#include "api/http.h"

namespace partita::api {

// Why it is refused; nothing: it may show its token. `own`: where the connection was accepted.
std::optional<Response> refuse_foreign(const Request& request, const Address& own);

// What stands behind "Authorization: Bearer "; nothing when there is none, or more than one.
std::optional<std::string> bearer_of(const Request& request);

// 401, the same for every token that is not good.
Response unknown_caller();

}  // namespace partita::api
