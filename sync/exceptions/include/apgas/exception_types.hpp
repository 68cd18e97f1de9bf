// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <exception>
#include <string>
#include <type_traits>
#include <typeinfo>

#include <apgas/base/api.hpp>

// Lets exceptions of a program's own types keep their type when they cross from one place to
// another. The exceptions of the standard library and of apgas always do. Any other exception
// arrives as a remote_exception, unless its type is listed once, anywhere in the program:
//
//   const apgas::exception_types<parse_error, bad_matrix> exceptions_of_this_program;
//
// At the receiving place, an exception of a listed type is constructed again from its what(). The
// type therefore needs a constructor from std::string or const char*, or a default constructor.
// Other members of the exception are lost.
namespace apgas::inline v0 {

namespace sync {
// Constructs an exception of a registered type from the text of the original.
using exception_maker = std::exception_ptr (*)(const std::string& what);
// Adds a type to the table of this process, under the name that all processes use for it. A second
// call for the same type replaces the first. Context: any thread; usually called before main.
APGAS_API void register_exception(const std::type_info& type, exception_maker make) noexcept;

template <class E>
std::exception_ptr make_exception(const std::string& what) {
  if constexpr (std::constructible_from<E, const std::string&>) {
    return std::make_exception_ptr(E(what));
  } else if constexpr (std::constructible_from<E, const char*>) {
    return std::make_exception_ptr(E(what.c_str()));
  } else {
    static_assert(std::default_initializable<E>,
                  "an exception type that is to cross places needs a constructor from std::string "
                  "or const char*, or a default constructor");
    return std::make_exception_ptr(E());
  }
}
}  // namespace sync

// Registers the types E... when it is constructed. Define one as a const object at namespace scope,
// so that the types are known before any message arrives.
//
// Throws: nothing; a type that cannot be constructed from its text is refused at compile time.
// Context: any thread. Cost: one lookup in a table for each type.
template <class... E>
class exception_types {
 public:
  // Registers every type of the list.
  exception_types() noexcept {
    (sync::register_exception(typeid(E), &sync::make_exception<E>), ...);
  }
};

}  // namespace apgas::inline v0
