// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs and shared libraries loaded into this process, as handler ids need them.

#include <cstdint>
#include <string>

namespace apgas::inline v0::comm {

struct loaded_object {
  std::uintptr_t base = 0;   // what offsets count from
  std::uintptr_t begin = 0;  // the addresses it occupies
  std::uintptr_t end = 0;
  std::string file;
  std::uint64_t identity = 0;  // hash of its build-id, or of the file where it has none
};

// The object that `address` lies in. Ends the process if there is none: code lies somewhere.
loaded_object object_of(const void* address);

}  // namespace apgas::inline v0::comm
