// Tokens: what a caller on TCP shows, since the kernel does not say who is at the other end.
//
// A token is 256 random bits, shown once to whoever makes it. What is kept is its SHA-256, with the
// user it stands for, what it may do and until when. The bits are random, so a plain hash is
// enough: there is no dictionary to try.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace partita::api {

// Each may do what the ones before it may.
enum class Scope : std::uint8_t {
  kRead,    // what its user may see
  kSubmit,  // and submit and cancel as its user
  kAdmin,   // and see and cancel the jobs of all
};
std::string_view name_of(Scope scope);
std::optional<Scope> scope_of(std::string_view name);
std::vector<std::string> scope_names();

inline constexpr std::size_t kTokensMax = 1'000;
inline constexpr std::string_view kTokenFront = "partita_";
inline constexpr std::size_t kTokenBytes = 32;
// Of no account. Not the largest number, which for the system means "as it is".
inline constexpr std::uint32_t kNoAccountUid = 0xfffffffe;

// 1 to 64 letters, digits, '.', '_' and '-'.
bool is_token_name(std::string_view name);

struct TokenRow {
  std::string id;  // names it in lists and for revoking; says nothing of the token
  Scope scope = Scope::kRead;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t created_s = 0;
  std::int64_t expires_s = 0;  // no longer good at this second
  std::string hash;            // SHA-256 in hexadecimal digits
  // Who it stands for, where that is nobody of this machine: its uid is kNoAccountUid, so that it
  // has no jobs, and none can be submitted with it. Empty: the user of the uid.
  std::string name = {};

  bool operator==(const TokenRow&) const = default;
};

struct NewToken {
  TokenRow row;
  std::string secret;  // "partita_" and 64 hexadecimal digits
};
// The id, the bits and their hash; the rest as given.
Result<NewToken> make_token(TokenRow row);

std::string hash_of(std::string_view secret);

// The row of that secret, expired or not; null: none. Looks at every row and compares without
// stopping at the first difference.
const TokenRow* find_token(std::span<const TokenRow> rows, std::string_view secret);

// The file: a line that names the format, then one for each token.
std::string format_tokens(std::span<const TokenRow> rows);
Result<std::vector<TokenRow>> parse_tokens(std::string_view text);

}  // namespace partita::api
