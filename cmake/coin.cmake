# coin_solvers: Clp and Cbc with what they need. Only src/bounds/solver.cpp sees it.
find_path(COIN_INCLUDE_DIR ClpSimplex.hpp PATH_SUFFIXES coin REQUIRED)
add_library(coin_solvers INTERFACE)
target_include_directories(coin_solvers SYSTEM INTERFACE ${COIN_INCLUDE_DIR})
foreach(name Cbc Cgl OsiClp Clp Osi CoinUtils)
  find_library(COIN_${name} ${name} REQUIRED)
  target_link_libraries(coin_solvers INTERFACE ${COIN_${name}})
endforeach()
