// The names a flag's value can have, taken from the tables of the rooms that own them.
#pragma once

#include <string>
#include <vector>

namespace partita::cli {

std::vector<std::string> gpu_names();
std::vector<std::string> power_names();  // of all models
std::vector<std::string> scheduler_names();
std::vector<std::string> scheduler_names_or_all();
std::vector<std::string> repartitioner_names();
std::vector<std::string> preemption_names();
std::vector<std::string> repartition_cost_names();
std::vector<std::string> generator_names();
std::vector<std::string> migm_mix_names();
std::vector<std::string> profile_names();
std::vector<std::string> curve_names();
std::vector<std::string> dialect_names();
std::vector<std::string> origin_names();
std::vector<std::string> preset_names();
std::vector<std::string> shell_names();
std::vector<std::string> verb_names();
std::vector<std::string> study_names();
std::vector<std::string> layout_actions();
std::vector<std::string> token_actions();
std::vector<std::string> plan_names();
std::vector<std::string> system_names();
std::vector<std::string> reward_names();
std::vector<std::string> judging_days();
std::vector<std::string> scenario_actions();
std::vector<std::string> bound_kind_names();

}  // namespace partita::cli
