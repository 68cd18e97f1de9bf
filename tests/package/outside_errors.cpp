// SPDX-License-Identifier: Apache-2.0
// Types that the program shares with the library: exceptions of another place, which the library
// makes again, and values that it collects there. With some standard libraries the copy of such a
// type that a library hides is another type than the program's.
#include <any>
#include <cstdio>
#include <functional>
#include <ios>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <variant>

#include <apgas/apgas.hpp>

namespace {

struct own_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const apgas::exception_types<own_error> own_types;

template <class E>
[[noreturn]] void throw_one() {
  if constexpr (std::is_default_constructible_v<E>) {
    throw E();
  } else if constexpr (std::is_constructible_v<E, const char*>) {
    throw E("text");
  } else {
    throw E(std::make_error_code(std::errc::io_error));
  }
}

// Returns 1, and says so, if an E that the last place throws is not caught as an E here.
template <class E>
int lost() {
  try {
    apgas::at(apgas::place(apgas::num_places() - 1), [] { throw_one<E>(); });
  } catch (const E& e) {
    if (typeid(e) == typeid(E)) return 0;
  } catch (...) {  // the line below says so
  }
  std::printf("not caught by its type: %s\n", typeid(E).name());
  return 1;
}

template <class... Errors>
int lost_of() {
  return (lost<Errors>() + ...);
}

int lost_exceptions() {
  return lost_of<std::runtime_error, std::range_error, std::overflow_error, std::underflow_error,
                 std::logic_error, std::invalid_argument, std::out_of_range, std::domain_error,
                 std::length_error, std::ios_base::failure, std::system_error, std::bad_alloc,
                 std::bad_array_new_length, std::bad_cast, std::bad_any_cast, std::bad_typeid,
                 std::bad_function_call, std::bad_optional_access, std::bad_variant_access,
                 std::bad_exception, std::bad_weak_ptr, std::exception, apgas::error,
                 apgas::bad_place, own_error>();
}

}  // namespace

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [] {
    const int offered = apgas::finish_reduce(0, std::plus<>(), [] {
      for (apgas::place p : apgas::places()) apgas::async_at(p, [] { apgas::offer(1); });
    });
    if (offered != apgas::num_places()) std::printf("%d places have offered\n", offered);
    return lost_exceptions() == 0 && offered == apgas::num_places() ? 0 : 1;
  });
}
