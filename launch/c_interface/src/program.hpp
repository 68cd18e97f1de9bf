// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <apgas/runtime.hpp>

// The program that apgas_start has started.
namespace apgas::inline v0::launch {

struct c_program {
  // Starts the program. Throws: as the constructor of runtime.
  c_program(int argc, char** argv, const config& settings);

  runtime own;
  int workers = 0;  // of this place, if it is place 0
};

// Returns the program that is active, or null. Context: any thread.
std::shared_ptr<c_program> active_c_program() noexcept;

}  // namespace apgas::inline v0::launch
