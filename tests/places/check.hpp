// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <source_location>
#include <stdexcept>
#include <string>

#include <apgas/apgas.hpp>
#include <apgas/base/sanitizer.hpp>

// What the tests of places share.
namespace test {

// For tasks at any place: what it throws comes to the test through its finish or at.
inline void check(bool condition, std::source_location where = std::source_location::current()) {
  if (condition) return;
  std::string text = where.file_name();
  text.append(":").append(std::to_string(where.line())).append(": check failed at place ");
  throw std::runtime_error(text.append(std::to_string(apgas::here().id())));
}

// Places in a ring.
inline apgas::place next(apgas::place p) {
  return apgas::place((p.id() + 1) % apgas::num_places());
}
inline apgas::place last() { return apgas::place(apgas::num_places() - 1); }

// What an error of f says.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const apgas::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// A number that a test can be given: APGAS_TEST_<name>.
inline unsigned long number_from_environment(const char* name, unsigned long otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): tests do not set any
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 10);
}

// Scales the work down where everything is slower.
inline constexpr int slower = APGAS_SANITIZED ? 10 : 1;

}  // namespace test
