// noted-job FILE SECONDS: a job that writes into FILE when it begins and when it ends.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string("?") : std::string(value);
}

bool note(const char* path, const std::string& what) {
  const std::string line = what + " " + variable("PARTITA_JOB") + "." +
                           variable("PARTITA_ATTEMPT") + " " + variable("CUDA_VISIBLE_DEVICES") +
                           "\n";
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const bool good = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(fd);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !note(argv[1], "begin")) return 2;
  std::this_thread::sleep_for(std::chrono::duration<double>(std::strtod(argv[2], nullptr)));
  return note(argv[1], "end") ? 0 : 2;
}
