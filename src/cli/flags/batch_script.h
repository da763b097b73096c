// Batch scripts: a job as a file whose first comments are the flags of `submit`, as sbatch has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags/values.h"

namespace partita::cli {

// Sets what the lines `#PARTITA --flag value` of the script say and the command line did not. They
// stand before the first line that is neither empty nor a comment. `shown_name` is for messages,
// which say the line too.
Status set_script_flags(std::string_view script, const std::string& shown_name, Values& values);

// The line of the first `#SBATCH --flag` among those comments, which is not read; 0: there is none.
std::size_t first_sbatch_line(std::string_view script);

// Why it cannot be run at all: no #! line, or line ends of DOS.
Status check_script(std::string_view script, const std::string& shown_name);

// What `--export` says: which variables of the caller's environment go along with a job.
struct Exported {
  bool all = false;
  std::vector<std::string> names;   // to be taken from the caller
  std::vector<std::string> values;  // NAME=VALUE
};
// "ALL", "NONE", "NAME,NAME=VALUE", "ALL,NAME=VALUE".
Result<Exported> parse_export(std::string_view text);

// NAME=VALUE of each, sorted by name. Of the caller's environment those that say where a job runs
// or hold a token stay behind.
std::vector<std::string> exported_variables(const Exported& exported,
                                            const std::vector<std::string>& environment);

}  // namespace partita::cli
