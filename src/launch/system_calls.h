// What every file here that calls the system needs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace partita::launch {

// "PATH: why the last system call failed"
Error failed(const std::string& path);

// The texts as exec wants them: ended by a null. They must outlive the result.
std::vector<char*> pointers(const std::vector<std::string>& list);

}  // namespace partita::launch
