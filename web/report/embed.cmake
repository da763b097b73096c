# cmake -P: builds the page and writes it as the C++ file OUT; without BUILD_PAGE, or where building fails
# and REQUIRED is not ON, the page in it is empty. Runs in web/report.

# Whom the system trusts, npm may trust: node has a list of its own.
set(system_certificates /etc/ssl/certs/ca-certificates.crt)
if(NOT DEFINED ENV{NODE_EXTRA_CA_CERTS} AND EXISTS ${system_certificates})
  set(ENV{NODE_EXTRA_CA_CERTS} ${system_certificates})
endif()

# npm ci, unless what is installed is of this lock file. Networks fail now and then, hence three tries.
function(install_packages ok)
  set(stamp node_modules/.partita-installed)
  file(LOCK .npm.lock TIMEOUT 600)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files package-lock.json ${stamp}
    RESULT_VARIABLE differ OUTPUT_QUIET ERROR_QUIET)
  foreach(try RANGE 1 3)
    if(differ EQUAL 0)
      break()
    endif()
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error --fetch-timeout=60000
      RESULT_VARIABLE differ OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(differ EQUAL 0)
      file(COPY_FILE package-lock.json ${stamp})
    else()
      message(STATUS "npm ci failed: ${said}")
    endif()
  endforeach()
  file(LOCK .npm.lock RELEASE)
  set(${ok} ${differ} PARENT_SCOPE)
endfunction()

function(build_page result)
  install_packages(status)
  if(status EQUAL 0)
    execute_process(COMMAND ${NODE} build.mjs ${FOLDER} RESULT_VARIABLE status)
  endif()
  set(${result} ${status} PARENT_SCOPE)
endfunction()

set(bytes "")
if(BUILD_PAGE)
  build_page(status)
  if(status EQUAL 0)
    file(READ ${FOLDER}/report.html bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
  elseif(REQUIRED STREQUAL "ON")
    message(FATAL_ERROR "the report page cannot be built (${status})")
  else()
    message(WARNING "the report page cannot be built (${status}); partita is built without it")
    file(TOUCH ${FOLDER}/failed)
  endif()
endif()

file(WRITE ${OUT} "#include \"report/page_template.h\"

namespace partita::report {
namespace {

constexpr unsigned char kPage[] = {
${bytes}0};

}  // namespace

std::string_view page_template() {
  return {reinterpret_cast<const char*>(kPage), sizeof(kPage) - 1};
}

}  // namespace partita::report
")
