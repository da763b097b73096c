// The base of the journal: a copy of the store as it was before the journal's first turn.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace partita::store {

// FOLDER/base-FIRST, itself the folder of a store.
std::string base_folder(const std::string& folder, std::int64_t first);

// Copies what the database holds to base_folder() and removes older bases. Whole or not at all.
Status make_base(sqlite3* database, const std::string& folder, std::int64_t first);

}  // namespace partita::store
