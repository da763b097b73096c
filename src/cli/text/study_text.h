// What an experiment found, as tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "experiment/results/claims.h"
#include "experiment/results/summary.h"
#include "experiment/study.h"

namespace partita::cli {

// Each setting as the study says: a table, a row, or nothing. REQUIRES: a summary a setting.
std::string summaries_text(const experiment::Study& study,
                           const std::vector<experiment::Summary>& summaries, bool bold);

// The source's figures beside ours.
std::string claims_text(const experiment::Study& study,
                        const std::vector<experiment::JudgedClaim>& claims, bool bold);
nlohmann::ordered_json claims_json(const std::vector<experiment::JudgedClaim>& claims);

// How far the mean of each policy is above the mean of the bounds (experiment::bound_tasks_of) of
// the same days. Nothing without bounds.
std::string gaps_text(const experiment::Study& study, std::span<const experiment::RunRecord> runs,
                      std::span<const experiment::RunRecord> bounds, bool bold);
// energy_bound_j, tardiness_bound_s and et_bound of a setting, and the gaps of its policies.
void add_gaps(nlohmann::ordered_json& json, const std::string& setting,
              std::span<const experiment::RunRecord> runs,
              std::span<const experiment::RunRecord> bounds);

// Which policy, and what it saves against the reference.
std::string saving_text(const experiment::Summary& summary);

}  // namespace partita::cli
