# What `cmake --install` puts where, and the .deb that `scripts/package` makes with CPack.
include(GNUInstallDirs)

install(TARGETS partita RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
file(GLOB partita_models ${CMAKE_SOURCE_DIR}/models/*)
install(FILES ${partita_models} DESTINATION ${CMAKE_INSTALL_DATADIR}/partita/models)
install(FILES deploy/partita.service DESTINATION lib/systemd/system)
install(FILES deploy/partita.sysusers DESTINATION lib/sysusers.d RENAME partita.conf)
install(FILES deploy/containers.conf deploy/device-rules.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/partita)
install(FILES deploy/default DESTINATION /etc/default RENAME partita)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# The program writes these itself.
set(generated ${CMAKE_BINARY_DIR}/share)
install(CODE "
  file(MAKE_DIRECTORY ${generated})
  execute_process(COMMAND $<TARGET_FILE:partita> man OUTPUT_FILE ${generated}/partita.1
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND $<TARGET_FILE:partita> completion bash OUTPUT_FILE ${generated}/partita.bash
                  COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${generated}/partita.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/partita.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME partita)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME partita)
set(CPACK_PACKAGE_CONTACT "Partita maintainers <maintainers@partita.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "MIG GPU partitioning: simulator, policies, bounds, live controller")
set(CPACK_PACKAGE_FILE_NAME "partita_${PROJECT_VERSION}_${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/deploy/postinst;${CMAKE_SOURCE_DIR}/deploy/prerm;${CMAKE_SOURCE_DIR}/deploy/conffiles")
include(CPack)
