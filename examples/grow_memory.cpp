// grow-memory FROM TO [SECONDS]: a job whose GPU memory grows from FROM to TO, as 2G or 512M.
//
// It needs no GPU: on a simulated slice it says what it holds in the file the daemon names, and
// fails as a CUDA program would when the slice has no more (docs/reference/devices.md).
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

double mebibytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool gibi = end != nullptr && (*end == 'G' || *end == 'g');
  return gibi ? number * 1024 : number;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool report(const std::string& path, double used_mib) {
  if (path.empty()) return true;
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return false;
  std::fprintf(file, "%d %.0f\n", static_cast<int>(::getpid()), used_mib);
  return std::fclose(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("grow-memory FROM TO [SECONDS], for example grow-memory 2G 12G 60\n", stderr);
    return 2;
  }
  const double from = mebibytes(argv[1]);
  const double to = mebibytes(argv[2]);
  const double seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 60;
  const std::string path = variable("PARTITA_SIM_MEMORY_FILE");
  const std::string limit = variable("PARTITA_SIM_MEMORY_MIB");
  const double most = limit.empty() ? to : std::strtod(limit.c_str(), nullptr);
  constexpr int kSteps = 200;
  for (int i = 0; i <= kSteps; ++i) {
    const double used = from + (to - from) * i / kSteps;
    if (used > most) {
      std::printf("CUDA out of memory: tried to hold %.0f MiB of %.0f\n", used, most);
      return 1;
    }
    if (!report(path, used)) return 2;
    if (i % 20 == 0) {
      std::printf("%3d %% done, holds %.0f MiB\n", i * 100 / kSteps, used);
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / kSteps));
  }
  return 0;
}
