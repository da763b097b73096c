# The files of src/nn/kernels/ that are compiled for newer processors than the rest; which of them runs is
# decided when the program starts. Elsewhere than on x86-64 only the portable one is there.
set(kernel_folder ${PROJECT_SOURCE_DIR}/src/nn/kernels)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${kernel_folder}/avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  # g++ 12 takes the undefined registers of its own AVX-512 header for a mistake.
  set_source_files_properties(${kernel_folder}/avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mfma;-mavx512f;-mavx512dq;-mavx512vl;-mavx512bw;-Wno-maybe-uninitialized;-Wno-uninitialized")
endif()

set_source_files_properties(${kernel_folder}/avx2.cpp ${kernel_folder}/avx512.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON)

# Tells the library which kernels it has.
function(partita_kernels target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_definitions(${target} PRIVATE PARTITA_X86_KERNELS)
  endif()
endfunction()
