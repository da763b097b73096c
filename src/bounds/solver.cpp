#include "bounds/solver.h"

#include <CbcModel.hpp>
#include <CglGomory.hpp>
#include <CglMixedIntegerRounding2.hpp>
#include <CglProbing.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>

#include "base/check.h"

namespace partita::bounds {
namespace {

CoinPackedMatrix matrix_of(const LinearModel& model) {
  CoinPackedMatrix matrix(true, model.entry_rows.data(), model.entry_columns.data(),
                          model.entry_values.data(),
                          static_cast<CoinBigIndex>(model.entry_values.size()));
  matrix.setDimensions(static_cast<int>(model.row_limits.size()),
                       static_cast<int>(model.costs.size()));
  return matrix;
}

struct LimitArrays {
  explicit LimitArrays(const std::vector<LinearModel::Limits>& limits) {
    for (const LinearModel::Limits& each : limits) {
      low.push_back(std::max(each.low, -COIN_DBL_MAX));
      high.push_back(std::min(each.high, COIN_DBL_MAX));
    }
  }
  std::vector<double> low;
  std::vector<double> high;
};

LpAnswer answer_of(const ClpSimplex& simplex) {
  LpAnswer answer;
  answer.optimal = simplex.isProvenOptimal();
  if (!answer.optimal) return answer;
  answer.value = simplex.objectiveValue();
  const double* values = simplex.primalColumnSolution();
  answer.columns.assign(values, values + simplex.numberColumns());
  const double* prices = simplex.dualRowSolution();
  answer.row_prices.assign(prices, prices + simplex.numberRows());
  return answer;
}

}  // namespace

std::size_t LinearModel::add_column(double cost, double low, double high, bool is_whole) {
  costs.push_back(cost);
  column_limits.push_back({low, high});
  whole.push_back(is_whole ? 1 : 0);
  return costs.size() - 1;
}

std::size_t LinearModel::add_row(double low, double high) {
  row_limits.push_back({low, high});
  return row_limits.size() - 1;
}

void LinearModel::set(std::size_t row, std::size_t column, double value) {
  CHECK(row < row_limits.size() && column < costs.size());
  entry_rows.push_back(static_cast<int>(row));
  entry_columns.push_back(static_cast<int>(column));
  entry_values.push_back(value);
}

LpAnswer solve_linear(const LinearModel& model) {
  const LimitArrays columns(model.column_limits);
  const LimitArrays rows(model.row_limits);
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.loadProblem(matrix_of(model), columns.low.data(), columns.high.data(), model.costs.data(),
                      rows.low.data(), rows.high.data());
  simplex.dual();
  return answer_of(simplex);
}

struct ColumnProgram::Simplex {
  ClpSimplex simplex;
  // Columns that the simplex has not seen yet.
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> values;
  std::vector<double> costs;
  bool limits_changed = false;

  void hand_over() {
    if (costs.empty()) return;
    simplex.addColumns(static_cast<int>(costs.size()), nullptr, nullptr, costs.data(),
                       starts.data(), rows.data(), values.data());
    starts.assign(1, 0);
    rows.clear();
    values.clear();
    costs.clear();
  }
};

ColumnProgram::ColumnProgram(const std::vector<LinearModel::Limits>& rows)
    : simplex_(std::make_unique<Simplex>()) {
  simplex_->simplex.setLogLevel(0);
  const LimitArrays limits(rows);
  simplex_->simplex.resize(static_cast<int>(rows.size()), 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    simplex_->simplex.setRowBounds(static_cast<int>(row), limits.low[row], limits.high[row]);
  }
}

ColumnProgram::~ColumnProgram() = default;

void ColumnProgram::add_column(double cost, const std::vector<int>& rows,
                               const std::vector<double>& values) {
  CHECK(rows.size() == values.size());
  simplex_->costs.push_back(cost);
  simplex_->rows.insert(simplex_->rows.end(), rows.begin(), rows.end());
  simplex_->values.insert(simplex_->values.end(), values.begin(), values.end());
  simplex_->starts.push_back(static_cast<CoinBigIndex>(simplex_->rows.size()));
}

void ColumnProgram::allow(std::size_t column, bool allowed) {
  simplex_->hand_over();
  const double high = allowed ? COIN_DBL_MAX : 0;
  if (simplex_->simplex.columnUpper()[column] == high) return;
  simplex_->simplex.setColumnUpper(static_cast<int>(column), high);
  simplex_->limits_changed = true;
}

// New columns leave the last basis feasible, new limits leave it dual feasible.
LpAnswer ColumnProgram::solve() {
  simplex_->hand_over();
  if (simplex_->limits_changed) {
    simplex_->simplex.dual();
  } else {
    simplex_->simplex.primal();
  }
  simplex_->limits_changed = false;
  return answer_of(simplex_->simplex);
}

std::string_view name_of(MipStatus status) {
  switch (status) {
    case MipStatus::kOptimal:
      return "optimal";
    case MipStatus::kTimeLimit:
      return "time limit";
    case MipStatus::kInfeasible:
      return "infeasible";
    case MipStatus::kFailed:
      break;
  }
  return "failed";
}

MipAnswer solve_whole(const LinearModel& model, double seconds_max) {
  const LimitArrays columns(model.column_limits);
  const LimitArrays rows(model.row_limits);
  OsiClpSolverInterface interface;
  interface.setHintParam(OsiDoReducePrint, true, OsiHintTry);
  interface.messageHandler()->setLogLevel(0);
  interface.loadProblem(matrix_of(model), columns.low.data(), columns.high.data(),
                        model.costs.data(), rows.low.data(), rows.high.data());
  for (std::size_t i = 0; i < model.whole.size(); ++i) {
    if (model.whole[i] != 0) interface.setInteger(static_cast<int>(i));
  }
  CbcModel search(interface);
  CglProbing probing;
  CglGomory gomory;
  CglMixedIntegerRounding2 rounding;
  search.addCutGenerator(&probing, -1, "probing");
  search.addCutGenerator(&gomory, -1, "gomory");
  search.addCutGenerator(&rounding, -1, "rounding");
  search.setLogLevel(0);
  search.messageHandler()->setLogLevel(0);
  search.setUseElapsedTime(true);
  search.setMaximumSeconds(std::max(0.1, seconds_max));
  search.branchAndBound();
  MipAnswer answer;
  answer.proven = search.getBestPossibleObjValue();
  if (search.bestSolution() != nullptr) answer.incumbent = search.getObjValue();
  if (search.isProvenOptimal()) {
    answer.status = MipStatus::kOptimal;
  } else if (search.isProvenInfeasible()) {
    answer.status = MipStatus::kInfeasible;
  } else {
    answer.status = MipStatus::kTimeLimit;
  }
  return answer;
}

}  // namespace partita::bounds
