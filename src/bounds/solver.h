// Interface to the solvers: linear and mixed-integer programs in, answers of Clp and Cbc out.
//
// Nothing else includes the solvers' headers.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

namespace partita::bounds {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Minimises cost over columns within their limits, rows within theirs.
class LinearModel {
 public:
  std::size_t add_column(double cost, double low, double high, bool whole = false);
  std::size_t add_row(double low, double high);
  // REQUIRES: row and column exist; at most one entry for a pair.
  void set(std::size_t row, std::size_t column, double value);

  struct Limits {
    double low;
    double high;
  };
  std::vector<double> costs;
  std::vector<Limits> column_limits;
  std::vector<char> whole;
  std::vector<Limits> row_limits;
  // Entries, in order of entry.
  std::vector<int> entry_rows;
  std::vector<int> entry_columns;
  std::vector<double> entry_values;
};

struct LpAnswer {
  bool optimal = false;
  double value = 0;
  std::vector<double> columns;
  std::vector<double> row_prices;  // duals
};
LpAnswer solve_linear(const LinearModel& model);

// A linear program that grows by columns, each with a value of 0 or more, and is solved again and
// again from where it was left.
class ColumnProgram {
 public:
  explicit ColumnProgram(const std::vector<LinearModel::Limits>& rows);
  ~ColumnProgram();
  ColumnProgram(const ColumnProgram&) = delete;
  ColumnProgram& operator=(const ColumnProgram&) = delete;

  // REQUIRES: each row at most once, as many values as rows.
  void add_column(double cost, const std::vector<int>& rows, const std::vector<double>& values);
  // A column that is not allowed is 0.
  void allow(std::size_t column, bool allowed);
  LpAnswer solve();

 private:
  struct Simplex;
  std::unique_ptr<Simplex> simplex_;
};

enum class MipStatus : unsigned char { kOptimal, kTimeLimit, kInfeasible, kFailed };
std::string_view name_of(MipStatus status);

struct MipAnswer {
  MipStatus status = MipStatus::kFailed;
  double proven = -kNoLimit;    // no solution costs less, says the solver
  double incumbent = kNoLimit;  // the best solution it met
};
MipAnswer solve_whole(const LinearModel& model, double seconds_max);

}  // namespace partita::bounds
