// Runs the built program without a shell, in a temporary folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace partita::cli_test {

// Of a jobs file.
inline constexpr std::string_view kHeader =
    "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s\n";

struct Ran {
  int status = -1;  // exit status; 128 + the signal that ended it
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

// A test whose relative paths lie in a folder that goes away with it.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  // "simulate --jobs jobs.csv": words separated by blanks, run in the folder.
  Ran run(std::string_view line, const std::string& standard_input = "") const;
  Ran run_words(const std::vector<std::string>& words,
                const std::string& standard_input = "") const;
  // The same, expecting success.
  std::string out_of(std::string_view line) const;
  // The sentence after "partita: " of a command that must fail with this status and print nothing.
  std::string complaint(std::string_view line, int status = 2) const;

  std::string path(std::string_view name) const;
  void write(std::string_view name, std::string_view text) const;
  std::string read(std::string_view name) const;
  bool exists(std::string_view name) const;
  std::vector<std::string> files() const;  // sorted names
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

std::string program_path();
std::string read_file(const std::string& path);

// The day of the commands, smaller.
inline constexpr std::string_view kGenerateDay =
    "generate --hours 24 --rate 20 --deadline 1.0:1.5 --seed 7 --out jobs.csv";

}  // namespace partita::cli_test
