// The names a flag's value can have, taken from the tables of the modules that own them.
#pragma once

#include <string>
#include <vector>

namespace partita::cli {

using Names = std::vector<std::string>;

std::vector<std::string> gpu_names();
std::vector<std::string> power_names();  // of all models
std::vector<std::string> scheduler_names();
std::vector<std::string> scheduler_names_or_all();
std::vector<std::string> repartitioner_names();
std::vector<std::string> migm_mix_names();
std::vector<std::string> profile_names();
std::vector<std::string> curve_names();
std::vector<std::string> dialect_names();
std::vector<std::string> preset_names();
std::vector<std::string> shell_names();
std::vector<std::string> verb_names();
std::vector<std::string> study_names();
std::vector<std::string> system_names();

}  // namespace partita::cli
