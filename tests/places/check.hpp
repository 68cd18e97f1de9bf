// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>
#include <apgas/base/random.hpp>
#include <apgas/base/sanitizer.hpp>

// Helpers of the tests in this folder.
namespace test {

// A check for tasks at any place. It throws, and the exception reaches the test through a finish or
// an at.
inline void check(bool condition, std::source_location where = std::source_location::current()) {
  if (condition) return;
  std::string text = where.file_name();
  text.append(":").append(std::to_string(where.line())).append(": check failed at place ");
  throw std::runtime_error(text.append(std::to_string(apgas::here().id())));
}

// The next place, in a ring of all places.
inline apgas::place next(apgas::place p) {
  return apgas::place((p.id() + 1) % apgas::num_places());
}
inline apgas::place last() { return apgas::place(apgas::num_places() - 1); }

// Tests in which all places do something for each place do it for some_places(): for all of them,
// or, if they are many, for about six, the first and the last among them.
inline bool places_are_many() { return apgas::num_places() > 16; }
inline std::vector<apgas::place> some_places() {
  const int step = places_are_many() ? apgas::num_places() / 5 : 1;
  std::vector<apgas::place> some;
  for (int i = 0; i < apgas::num_places() - 1; i += step) some.emplace_back(i);
  some.push_back(last());
  return some;
}

// The message of the apgas::error that f throws.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const apgas::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// A number from an environment variable APGAS_TEST_..., or `otherwise`.
inline unsigned long number_from_environment(const char* name, unsigned long otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): tests do not set any
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 10);
}

// The seed of a random program, which it prints so that a failure can be repeated: APGAS_TEST_SEED;
// or, with a seeded schedule, a number that follows from APGAS_SEED, which then repeats the program
// and its schedule; or else a random number.
inline std::uint64_t random_seed() {
  const unsigned long schedule = number_from_environment("APGAS_SEED", 0);
  std::uint64_t seed = number_from_environment("APGAS_TEST_SEED", 0);
  if (seed == 0 && schedule != 0) {
    static std::atomic<std::uint64_t> programs = 0;
    seed = apgas::base::random_engine(schedule + (++programs << 32U))() | 1U;
  } else if (seed == 0) {
    seed = std::random_device()() | 1U;
  }
  if (schedule != 0) std::printf("APGAS_SEED=%lu: ", schedule);
  std::printf("APGAS_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

// Divides the amount of work where everything is slower.
inline constexpr int slower = APGAS_SANITIZED ? 10 : 1;

}  // namespace test
