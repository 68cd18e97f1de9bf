// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <exception>
#include <string>
#include <type_traits>
#include <typeinfo>

// Which exceptions keep their type between places. Those of the standard library and of apgas do;
// others arrive as remote_exception unless they are listed, once, anywhere in the program:
//
//   const apgas::exception_types<parse_error, bad_matrix> sent_as_themselves;
//
// A listed type is made again from its message: it needs a constructor from std::string or
// const char*, or a default one.
namespace apgas::inline v0 {

namespace sync {
using exception_maker = std::exception_ptr (*)(const std::string& what);
// Context: any thread; usually before main.
void register_exception(const std::type_info& type, exception_maker make) noexcept;

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

template <class... E>
class exception_types {
 public:
  exception_types() noexcept {
    (sync::register_exception(typeid(E), &sync::make_exception<E>), ...);
  }
};

}  // namespace apgas::inline v0
