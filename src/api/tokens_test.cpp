#include "api/tokens.h"

#include <gtest/gtest.h>

#include <set>

namespace partita::api {
namespace {

TokenRow row(Scope scope) {
  TokenRow made;
  made.scope = scope;
  made.uid = 1000;
  made.gid = 100;
  made.created_s = 1;
  made.expires_s = 2'000'000'000;
  return made;
}

// FIPS 180-2, appendix B.
TEST(Tokens, TheHashIsSha256) {
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Tokens, EachHas256BitsOfItsOwnAndOnlyItsHashIsKept) {
  std::set<std::string> seen;
  std::vector<TokenRow> rows;
  std::vector<std::string> secrets;
  for (int i = 0; i < 200; ++i) {
    const Result<NewToken> made = make_token(row(Scope::kSubmit));
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->secret.size(), kTokenFront.size() + 2 * kTokenBytes);
    EXPECT_TRUE(seen.insert(made->secret).second);
    EXPECT_EQ(made->row.hash, hash_of(made->secret));
    rows.push_back(made->row);
    secrets.push_back(made->secret);
  }
  const std::string text = format_tokens(rows);
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    EXPECT_EQ(text.find(secrets[i].substr(kTokenFront.size())), std::string::npos);
    ASSERT_NE(find_token(rows, secrets[i]), nullptr);
    EXPECT_EQ(*find_token(rows, secrets[i]), rows[i]);
  }
}

TEST(Tokens, OneOtherCharacterAnywhereIsAnotherToken) {
  const Result<NewToken> made = make_token(row(Scope::kRead));
  const std::vector<TokenRow> rows{made->row};
  for (std::size_t i = 0; i < made->secret.size(); ++i) {
    std::string other = made->secret;
    other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_EQ(find_token(rows, other), nullptr) << i;
  }
  EXPECT_EQ(find_token(rows, made->secret + " "), nullptr);
  EXPECT_EQ(find_token(rows, made->secret.substr(1)), nullptr);
  EXPECT_EQ(find_token(rows, ""), nullptr);
  EXPECT_EQ(find_token(rows, made->row.hash), nullptr) << "the hash is no token";
}

TEST(Tokens, TheFileIsReadAsItWasWrittenAndAnythingElseIsRefused) {
  const std::vector<TokenRow> rows{make_token(row(Scope::kRead))->row,
                                   make_token(row(Scope::kSubmit))->row,
                                   make_token(row(Scope::kAdmin))->row};
  const std::string text = format_tokens(rows);
  const auto again = parse_tokens(text);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, rows);
  EXPECT_FALSE(parse_tokens("").ok());
  EXPECT_FALSE(parse_tokens("partita-tokens 2\n").ok());
  EXPECT_TRUE(parse_tokens("partita-tokens 1\n")->empty());
  // A byte more or less anywhere is noticed, or changes no right: never a scope that was not given.
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string cut = text;
    cut.erase(i, 1);
    const auto read = parse_tokens(cut);
    if (!read) continue;
    for (const TokenRow& each : *read) EXPECT_LT(each.scope, Scope{3});
    EXPECT_LE(read->size(), rows.size());
  }
  EXPECT_FALSE(parse_tokens(text + "0badc0de root 0 0 1 2 " + rows[0].hash + "\n").ok());
  EXPECT_FALSE(parse_tokens(text + "0badc0de admin -1 0 1 2 " + rows[0].hash + "\n").ok());
}

TEST(Tokens, OneOfNobodyHereHasANameAndCannotSubmit) {
  TokenRow nobody = row(Scope::kRead);
  nobody.uid = nobody.gid = kNoAccountUid;
  nobody.name = "grafana";
  const Result<NewToken> made = make_token(nobody);
  ASSERT_TRUE(made.ok());
  const auto read = parse_tokens(format_tokens(std::vector{made->row}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->front(), made->row);
  for (const auto change :
       {+[](TokenRow& each) { each.scope = Scope::kSubmit; },
        +[](TokenRow& each) { each.uid = 1000; }, +[](TokenRow& each) { each.name = "a b"; },
        +[](TokenRow& each) { each.name = ""; }}) {
    TokenRow other = made->row;
    change(other);
    EXPECT_FALSE(parse_tokens(format_tokens(std::vector{other})).ok());
  }
}

}  // namespace
}  // namespace partita::api
