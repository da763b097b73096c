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
  LpAnswer answer;
  answer.optimal = simplex.isProvenOptimal();
  if (!answer.optimal) return answer;
  answer.value = simplex.objectiveValue();
  const double* values = simplex.primalColumnSolution();
  answer.columns.assign(values, values + model.costs.size());
  const double* prices = simplex.dualRowSolution();
  answer.row_prices.assign(prices, prices + model.row_limits.size());
  return answer;
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
