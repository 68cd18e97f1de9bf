# APGAS_SANITIZE: empty, `address` (with undefined behaviour), `thread`, or `fuzzer` (as address, with
# what libFuzzer wants to see; clang only). Applies to everything in this build. Fibers then switch by Boost.Context, which the sanitizers' annotations are tried with.
set(APGAS_SANITIZE "" CACHE STRING "Instrument the build: empty, address, thread or fuzzer")
set_property(CACHE APGAS_SANITIZE PROPERTY STRINGS "" address thread fuzzer)
if(APGAS_SANITIZE MATCHES "^(address|fuzzer)$")
  # Without what the address sanitizer sees too, which takes half of the compile time.
  set(flags -fsanitize=address,undefined -fno-sanitize=null,object-size
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(APGAS_SANITIZE STREQUAL "fuzzer")
    list(APPEND flags -fsanitize=fuzzer-no-link)
  endif()
elseif(APGAS_SANITIZE STREQUAL "thread")
  set(flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(APGAS_SANITIZE)
  message(FATAL_ERROR "APGAS_SANITIZE=${APGAS_SANITIZE}: expected nothing, address, thread or fuzzer")
endif()
if(APGAS_SANITIZE)
  add_compile_options(${flags})
  add_link_options(${flags})
  set(APGAS_BOOST_CONTEXT ON CACHE BOOL "" FORCE)
endif()
if(APGAS_BOOST_CONTEXT)
  add_compile_definitions(APGAS_BOOST_CONTEXT=1)
endif()

# With its sanitizers g++ takes the inside of a std::optional for uninitialised (its bug 105562).
if(APGAS_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized)
endif()
