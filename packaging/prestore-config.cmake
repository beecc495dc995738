# find_package(prestore) gives prestore::prestore (shared), prestore::static and prestore::headers (PRESTORE_INLINE).
get_filename_component(_prestore_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET prestore::prestore)
  add_library(prestore::prestore SHARED IMPORTED)
  set_target_properties(prestore::prestore PROPERTIES
    IMPORTED_LOCATION "${_prestore_prefix}/lib/libprestore.so"
    IMPORTED_SONAME "libprestore.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_prestore_prefix}/include")

  add_library(prestore::static STATIC IMPORTED)
  set_target_properties(prestore::static PROPERTIES
    IMPORTED_LOCATION "${_prestore_prefix}/lib/libprestore.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_prestore_prefix}/include"
    INTERFACE_LINK_LIBRARIES "util;rt;pthread;m;dl;c")

  add_library(prestore::headers INTERFACE IMPORTED)
  set_target_properties(prestore::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_prestore_prefix}/include"
    INTERFACE_COMPILE_DEFINITIONS PRESTORE_INLINE)
endif()

unset(_prestore_prefix)
