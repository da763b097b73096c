#include "workload/readers/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/named.h"
#include "workload/job_csv.h"
#include "workload/readers/azure_llm.h"
#include "workload/readers/genai.h"
#include "workload/readers/openb.h"
#include "workload/readers/philly.h"

namespace partita::workload {
namespace {

Result<std::unique_ptr<JobSource>> open_native(CsvTable table, const Input&,
                                               const ReaderOptions& options) {
  Result<std::unique_ptr<CsvJobSource>> source = CsvJobSource::over(std::move(table), options.rows);
  if (!source) return source.error();
  return std::unique_ptr<JobSource>(*std::move(source));
}

constexpr Dialect kDialects[] = {
    {"azure-llm", "Azure LLM inference requests (AzurePublicDataset, 2023 and 2024)",
     kAzureLlmColumns, open_azure_llm},
    {"genai", "Alibaba image-generation requests (cluster-trace-v2026-GenAI)", kGenaiColumns,
     open_genai},
    {"native", "Partita's own jobs, with a time for each slice size", kJobCsvColumns, open_native},
    {"openb", "Alibaba pods with fractions of a GPU (cluster-trace-gpu-v2023)", kOpenbColumns,
     open_openb},
    {"philly", "Microsoft Philly jobs of 2017, as in the Sia artifact", kPhillyColumns,
     open_philly},
};

std::vector<std::string_view> missing(const Dialect& dialect, std::span<const std::string> header) {
  std::vector<std::string_view> names;
  for (const std::string_view column : dialect.columns) {
    if (std::find(header.begin(), header.end(), column) == header.end()) names.push_back(column);
  }
  return names;
}

// What each dialect needs, and what the one with most of its columns lacks.
Error no_dialect(const CsvTable& table) {
  std::string needs;
  const Dialect* closest = nullptr;
  double closest_share = 0;
  for (const Dialect& dialect : kDialects) {
    needs += fmt::format("; {} needs {}", dialect.name, fmt::join(dialect.columns, ","));
    const double share = 1 - static_cast<double>(missing(dialect, table.columns()).size()) /
                                 static_cast<double>(dialect.columns.size());
    if (share <= closest_share) continue;
    closest_share = share;
    closest = &dialect;
  }
  std::string near;
  if (closest != nullptr) {
    near = fmt::format(" (closest: {}, which lacks {})", closest->name,
                       fmt::join(missing(*closest, table.columns()), ","));
  }
  return table.bad_row("the header fits no known trace format" + near + needs);
}

}  // namespace

std::span<const Dialect> dialects() {
  return kDialects;
}

Result<const Dialect*> find_dialect(std::string_view name) {
  return find_named("trace format", name, kDialects, &Dialect::name);
}

const Dialect* detect(std::span<const std::string> header) {
  const Dialect* best = nullptr;
  for (const Dialect& dialect : kDialects) {
    if (!missing(dialect, header).empty()) continue;
    if (best == nullptr || dialect.columns.size() > best->columns.size()) best = &dialect;
  }
  return best;
}

Result<std::unique_ptr<JobSource>> open_trace(const Input& input, const ReaderOptions& options,
                                              std::string_view dialect) {
  const Dialect* chosen = nullptr;
  if (!dialect.empty()) {
    const Result<const Dialect*> named = find_dialect(dialect);
    if (!named) return named.error();
    chosen = *named;
  }
  const std::string wanted =
      fmt::format("{}", chosen == nullptr ? std::string(kJobCsvHeader)
                                          : fmt::format("{}", fmt::join(chosen->columns, ",")));
  Result<CsvTable> table = CsvTable::open(input, wanted);
  if (!table) return table.error();
  if (chosen == nullptr) chosen = detect(table->columns());
  if (chosen == nullptr) return no_dialect(*table);
  return chosen->open(*std::move(table), input, options);
}

}  // namespace partita::workload
