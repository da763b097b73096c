// The schema of the store file: its tables, its version, and the way up from older ones.
#pragma once

#include <sqlite3.h>

#include <string>

#include "base/result.h"

namespace partita::store {

// Written into the file, so that a newer program knows an older file and an older program refuses a
// newer one. Raise it with every column; older files get it when they are opened.
inline constexpr int kSchemaVersion = 5;
// Older than this cannot be opened any more.
inline constexpr int kSchemaVersionMin = 1;
// "PRTA": tells our files from other SQLite databases. Values are on disk.
inline constexpr int kApplicationId = 0x50525441;

// Makes the tables of an empty file, or moves an older one up; refuses a newer one and files that
// are not ours. `path` is for the sentences.
Status bring_to_present(sqlite3* database, const std::string& path);

// "PATH is damaged (why)": the sentence for a file that SQLite or a checksum refuses.
Error damaged(const std::string& path, const std::string& why);

}  // namespace partita::store
