#include "program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/text.h"

namespace partita::cli_test {
namespace {

void redirect(const std::string& path, int flags, int to) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 || ::dup2(fd, to) < 0) ::_exit(126);
}

[[noreturn]] void become(const std::vector<std::string>& words, const std::string& folder,
                         const std::string& streams) {
  redirect(streams + "/in", O_RDONLY, STDIN_FILENO);
  redirect(streams + "/out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect(streams + "/err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  std::string program = program_path();
  std::vector<char*> arguments{program.data()};
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ::_exit(127);
}

int status_of(int waited) {
  constexpr int kSignalled = 128;
  return WIFEXITED(waited) ? WEXITSTATUS(waited) : kSignalled + WTERMSIG(waited);
}

}  // namespace

std::string program_path() {
  return PARTITA_PROGRAM;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ProgramTest::ProgramTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "partita-test-XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  folder_ = pattern;
  std::filesystem::create_directory(folder_ + "/here");
}

ProgramTest::~ProgramTest() {
  std::filesystem::remove_all(folder_);
}

std::string ProgramTest::path(std::string_view name) const {
  return folder_ + "/here/" + std::string(name);
}

void ProgramTest::write(std::string_view name, std::string_view text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string ProgramTest::read(std::string_view name) const {
  return read_file(path(name));
}

bool ProgramTest::exists(std::string_view name) const {
  return std::filesystem::exists(path(name));
}

std::vector<std::string> ProgramTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/here")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Ran ProgramTest::run(std::string_view line, const std::string& standard_input) const {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return run_words(words, standard_input);
}

Ran ProgramTest::run_words(const std::vector<std::string>& words,
                           const std::string& standard_input) const {
  std::ofstream(folder_ + "/in", std::ios::binary) << standard_input;
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) become(words, folder_ + "/here", folder_);
  int waited = 0;
  CHECK(::waitpid(child, &waited, 0) == child);
  return {status_of(waited), read_file(folder_ + "/out"), read_file(folder_ + "/err")};
}

std::string ProgramTest::out_of(std::string_view line) const {
  const Ran ran = run(line);
  EXPECT_EQ(ran.status, 0) << line << "\n" << ran.err;
  return ran.out;
}

std::string ProgramTest::complaint(std::string_view line, int status) const {
  const Ran ran = run(line);
  EXPECT_EQ(ran.status, status) << line << "\n" << ran.err;
  EXPECT_EQ(ran.out, "") << line;
  EXPECT_TRUE(ran.err.starts_with("partita: ")) << line << "\n" << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << line << "\n" << ran.err;
  constexpr std::size_t kPrefix = 9;
  return ran.err.size() < kPrefix + 1 ? "" : ran.err.substr(kPrefix, ran.err.size() - kPrefix - 1);
}

}  // namespace partita::cli_test
