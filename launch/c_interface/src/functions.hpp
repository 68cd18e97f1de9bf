// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

// How a C function is named in a message to another process, where its address may differ: by the
// program or shared library that contains it, and its offset there. Such functions are not
// registered as handlers are (handler.hpp), because C has no code that runs before main.
namespace apgas::inline v0::launch {

using any_function = void (*)();

struct sent_function {
  std::uint64_t object = 0;  // the identity of the loaded object
  std::uint64_t offset = 0;  // from the address at which it is loaded
};

// Returns the name of a function; nullopt if it belongs to no loaded object.
// Throws: std::bad_alloc. Context: any thread; does not suspend.
// Cost: two short locks; after an object has been loaded, a look at all of them.
std::optional<sent_function> find_name(any_function function);

// Returns the function with a name; null if this process has not loaded its object, or if the
// offset is not one of code. Throws, Context, Cost: as find_name.
any_function find_function(const sent_function& name);

}  // namespace apgas::inline v0::launch
