#include "store/journal_base.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "store/sqlite_store.h"
#include "store/statement.h"

namespace partita::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "base-";

void remove_other_bases(const std::string& folder, const std::string& kept) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const bool base = entry.path().filename().string().starts_with(kPrefix);
    if (base && entry.path() != kept) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

std::string base_folder(const std::string& folder, std::int64_t first) {
  return fmt::format("{}/{}{}", folder, kPrefix, first);
}

Status make_base(sqlite3* database, const std::string& folder, std::int64_t first) {
  const std::string whole = base_folder(folder, first);
  const std::string half = whole + ".new";
  std::error_code failed;
  fs::remove_all(half, failed);
  ::mkdir(half.c_str(), 0700);
  {
    Statement copy(database, "VACUUM INTO ?");
    if (!copy.prepared() || !copy.bind(store_file(half)).run()) {
      const Error error{fmt::format("{} cannot be written: {}", half, sqlite3_errmsg(database))};
      fs::remove_all(half, failed);
      return error;
    }
  }
  ::chmod(store_file(half).c_str(), 0600);
  fs::rename(half, whole, failed);
  if (failed) return Error{fmt::format("{} cannot be made: {}", whole, failed.message())};
  remove_other_bases(folder, whole);
  return {};
}

}  // namespace partita::store
