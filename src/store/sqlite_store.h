// SqliteStore: the store as a file: SQLite with a write-ahead log, durable at each commit.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace partita::store {

struct OpenOptions {
  // Reads every page once and checks that the file holds together. Costs about a second a gigabyte.
  bool check_whole_file = true;
  // The base of a journal is itself a store, but has no journal.
  bool has_journal = true;
};

// Opens or makes FOLDER/partita.db. One process at a time: a second one is told who has it. A file
// that is damaged, not ours or of a newer version is refused by name and left as it is.
Result<std::unique_ptr<Store>> open_store(const std::string& folder, const OpenOptions& options);

// The file within the folder.
std::string store_file(const std::string& folder);

}  // namespace partita::store
