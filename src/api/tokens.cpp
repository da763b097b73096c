#include "api/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace partita::api {
namespace {

constexpr std::string_view kFormat = "partita-tokens 1";
constexpr std::array<std::string_view, 3> kScopes{"read", "submit", "admin"};
constexpr std::size_t kIdBytes = 4;

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_hexadecimal(std::string_view text, std::size_t size) {
  return text.size() == size && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::optional<std::uint32_t> parse_account(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > 0xffffffffLL) return {};
  return static_cast<std::uint32_t>(*number);
}

std::optional<TokenRow> parse_row(std::string_view line) {
  const auto fields = split(line, ' ');
  if (fields.size() != 7 && fields.size() != 8) return {};
  const auto scope = scope_of(fields[1]);
  const auto uid = parse_account(fields[2]);
  const auto gid = parse_account(fields[3]);
  const auto created = parse_int(fields[4]);
  const auto expires = parse_int(fields[5]);
  const bool good = is_hexadecimal(fields[0], 2 * kIdBytes) && scope && uid && gid && created &&
                    expires && is_hexadecimal(fields[6], 2 * SHA256_DIGEST_LENGTH);
  // Of nobody here, and then it cannot submit, or of somebody; not half of each.
  const bool named = fields.size() == 8;
  const bool consistent = good && named == (*uid == kNoAccountUid) &&
                          (!named || (is_token_name(fields[7]) && *scope != Scope::kSubmit));
  if (!consistent) return {};
  TokenRow row{std::string(fields[0]), *scope, *uid, *gid, *created, *expires,
               std::string(fields[6])};
  if (named) row.name = fields[7];
  return row;
}

}  // namespace

std::string_view name_of(Scope scope) {
  return kScopes[static_cast<std::size_t>(scope)];
}

std::optional<Scope> scope_of(std::string_view name) {
  const auto found = std::ranges::find(kScopes, name);
  if (found == kScopes.end()) return {};
  return static_cast<Scope>(found - kScopes.begin());
}

std::vector<std::string> scope_names() {
  return {kScopes.begin(), kScopes.end()};
}

bool is_token_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string hash_of(std::string_view secret) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), digest.data());
  return hexadecimal(digest);
}

Result<NewToken> make_token(TokenRow row) {
  std::array<unsigned char, kTokenBytes> bits{};
  std::array<unsigned char, kIdBytes> id{};
  if (::RAND_bytes(bits.data(), bits.size()) != 1 || ::RAND_bytes(id.data(), id.size()) != 1) {
    return Error{"the system gives no random numbers"};
  }
  NewToken made;
  made.secret = std::string(kTokenFront) + hexadecimal(bits);
  ::OPENSSL_cleanse(bits.data(), bits.size());
  made.row = std::move(row);
  made.row.id = hexadecimal(id);
  made.row.hash = hash_of(made.secret);
  return made;
}

const TokenRow* find_token(std::span<const TokenRow> rows, std::string_view secret) {
  const std::string hash = hash_of(secret);
  const TokenRow* found = nullptr;
  for (const TokenRow& row : rows) {
    const bool same = row.hash.size() == hash.size() &&
                      ::CRYPTO_memcmp(row.hash.data(), hash.data(), hash.size()) == 0;
    if (same) found = &row;
  }
  return found;
}

std::string format_tokens(std::span<const TokenRow> rows) {
  std::string text = std::string(kFormat) + "\n";
  for (const TokenRow& row : rows) {
    text +=
        fmt::format("{} {} {} {} {} {} {}{}{}\n", row.id, name_of(row.scope), row.uid, row.gid,
                    row.created_s, row.expires_s, row.hash, row.name.empty() ? "" : " ", row.name);
  }
  return text;
}

Result<std::vector<TokenRow>> parse_tokens(std::string_view text) {
  std::vector<TokenRow> rows;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (++number == 1) {
      if (line != kFormat) return Error{fmt::format("line 1 is not '{}'", kFormat)};
      continue;
    }
    if (line.empty()) continue;
    auto row = parse_row(line);
    if (!row) return Error{fmt::format("line {} is no token", number)};
    if (rows.size() == kTokensMax) return Error{fmt::format("more than {} tokens", kTokensMax)};
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace partita::api
