// Memory reports: how a process tells a simulated GPU what it holds (docs/reference/devices.md,
// "Jobs on a simulated GPU").
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "device/backend.h"

namespace partita::device {

// Lines "PID MIB", a process each; the last line of a pid counts. Lines of another form are passed
// over: the file may be read while it is written.
std::vector<ProcessUse> parse_memory_report(std::string_view text);

// The processes of the report that are alive and began before it was written (a pid may be another
// process by now), in order of pid. No file: none.
std::vector<ProcessUse> read_memory_report(const std::filesystem::path& path);

}  // namespace partita::device
