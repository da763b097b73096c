# Several source files compiled as one: the headers they share, which take most of the time, are read
# once, and a whole build takes less than half as long. For work on the code turn it off
# (-DPARTITA_UNITY=OFF): after an edit one file is compiled instead of a group. The presets debug,
# sanitize, thread and fuzz have it off, so a file that lacks an include does not go unnoticed.
#
# What a file keeps to itself in an anonymous namespace must therefore have a name that no other file
# of its library uses.
option(PARTITA_UNITY "Compile source files in groups: whole builds are faster, rebuilds slower" ON)
set(CMAKE_UNITY_BUILD ${PARTITA_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
