#include "store/statement.h"

#include <utility>

namespace partita::store {

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                     &statement_, nullptr);
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_, ++bound_, value);
  return *this;
}

// SQLite does not copy: the text must stay until run(), as every caller's row does.
Statement& Statement::bind(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

bool Statement::run() {
  const int code = sqlite3_step(statement_);
  const int reset_code = sqlite3_reset(statement_);
  bound_ = 0;
  return code == SQLITE_DONE && reset_code == SQLITE_OK;
}

bool Statement::next() {
  const int code = sqlite3_step(statement_);
  column_ = 0;
  done_ = code == SQLITE_DONE;
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_);
  bound_ = 0;
  done_ = false;
}

std::int64_t Statement::integer() {
  return sqlite3_column_int64(statement_, column_++);
}

double Statement::real() {
  return sqlite3_column_double(statement_, column_++);
}

std::string Statement::text() {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_));
  ++column_;
  return data == nullptr ? std::string() : std::string(data, size);
}

}  // namespace partita::store
