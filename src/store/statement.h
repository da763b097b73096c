// Statement: one prepared SQL statement.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace partita::store {

// Values are bound, and columns read, from left to right. Errors stay with the connection.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  bool prepared() const { return statement_ != nullptr; }

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);

  // Runs to the end and makes ready for the next row. False: the connection has the error.
  bool run();
  // Moves to the next row. False at the end (`done`) and on errors.
  bool next();
  bool done() const { return done_; }
  void reset();

  std::int64_t integer();
  double real();
  std::string text();

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int column_ = 0;
  bool done_ = false;
};

}  // namespace partita::store
