// What is done with the rights of the owner of a job: files opened, processes begun, scripts read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/launcher.h"

namespace partita::launch {

// What went wrong between fork and exec, sent to the parent through a pipe that exec closes.
[[noreturn]] void give_up(int pipe, const char* what);

// The same for its folder, by errno.
[[noreturn]] void give_up_folder(int pipe, const Start& start);

// The rights of the owner and no more, where we have more to give up. For a child: there is no way
// back, and it gives up when there is one.
void become_owner(const Owner& owner, int pipe);

// Opens a file to append to, as the owner of the job in its directory would; made where there is
// none, emptied first with `empty`. A child becomes the owner and hands the descriptor over, so
// that groups, capabilities and network file systems see nobody else.
Result<int> open_as_owner(const Start& start, const std::string& path, bool empty);

// Where a job finds the script it runs.
inline constexpr unsigned kScriptDescriptor = 3;

// The script of a job as a file without a name that nobody can change; -1: it cannot be made.
// REQUIRES: start.script is not empty.
int make_script(const Start& start);

// The program that its first line names, with the script in front of the arguments, as the kernel
// would run it.
std::vector<std::string> script_argv(const Start& start);

}  // namespace partita::launch
