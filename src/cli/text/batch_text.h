// What an experiment over batches says: makespans and energies in times of the reference.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "experiment/results/run_record.h"
#include "experiment/study.h"

namespace partita::cli {

// One table a setting.
std::string batches_text(const experiment::Study& study,
                         std::span<const experiment::RunRecord> records, bool bold);
nlohmann::ordered_json batches_json(const experiment::Study& study,
                                    std::span<const experiment::RunRecord> records);

}  // namespace partita::cli
