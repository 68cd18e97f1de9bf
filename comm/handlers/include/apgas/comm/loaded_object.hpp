// SPDX-License-Identifier: Apache-2.0
#pragma once

// The program and the shared libraries that are loaded into this process, as far as the names of
// functions that are sent to other processes depend on them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace apgas::inline v0::comm {

struct loaded_object {
  std::uintptr_t base = 0;   // offsets are relative to this address
  std::uintptr_t begin = 0;  // the range of addresses it occupies
  std::uintptr_t end = 0;
  std::uintptr_t code_begin = 0;  // the part of that range which can be executed
  std::uintptr_t code_end = 0;
  std::string file;
  std::uint64_t identity = 0;  // hash of its build-id, or of its file if it has none
};

// Returns the loaded object that contains `address`. Ends the job if there is none, which cannot
// happen for the address of a function.
loaded_object object_of(const void* address);

// Returns all loaded objects that can be identified. Throws: std::bad_alloc. Context: any thread.
// Cost: reads the files of those without a build-id.
std::vector<loaded_object> all_loaded_objects();

// Returns a number that changes when an object is loaded or unloaded. Context: any thread.
// Cost: a lock of the loader.
std::uint64_t loading_generation() noexcept;

}  // namespace apgas::inline v0::comm
