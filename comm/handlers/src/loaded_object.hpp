// SPDX-License-Identifier: Apache-2.0
#pragma once

// The program and the shared libraries that are loaded into this process, as far as handler ids
// depend on them.

#include <cstdint>
#include <string>

namespace apgas::inline v0::comm {

struct loaded_object {
  std::uintptr_t base = 0;   // offsets are relative to this address
  std::uintptr_t begin = 0;  // the range of addresses it occupies
  std::uintptr_t end = 0;
  std::string file;
  std::uint64_t identity = 0;  // hash of its build-id, or of its file if it has none
};

// Returns the loaded object that contains `address`. Ends the job if there is none, which cannot
// happen for the address of a function.
loaded_object object_of(const void* address);

}  // namespace apgas::inline v0::comm
