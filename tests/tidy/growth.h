// Rules on where a code base grows when nobody looks: large classes, full folders, headers that
// drag heavy ones along, and protocols that are written a second time.
#pragma once

#include "rules.h"

namespace partita::tidy {

inline constexpr std::size_t kClassMethodsMax = 35;
inline constexpr std::size_t kFolderFilesMax = 40;

// Classes and structs of src/ with more methods than that, private ones and overloads counted.
Violations large_classes(const File& file);
// Folders of src/ with more files than that, those of subfolders not counted.
Violations full_folders(const std::vector<File>& files);
// Headers of src/ that include a third-party header that is slow to compile.
Violations heavy_includes(const File& file);
// Calls that belong to one protocol, outside the file that has it.
Violations repeated_protocols(const File& file);

}  // namespace partita::tidy
