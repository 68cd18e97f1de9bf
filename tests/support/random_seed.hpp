// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

// The seed of a unit test that makes random choices, and what the test says when it fails.
namespace apgas::test {

// Returns the number in APGAS_TEST_SEED, or a random one.
inline std::uint32_t random_seed() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests do not set any
  const char* const given = std::getenv("APGAS_TEST_SEED");
  if (given == nullptr) return std::random_device()();
  return static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10));
}

inline std::string how_to_repeat(std::uint32_t seed) {
  return "APGAS_TEST_SEED=" + std::to_string(seed) + " repeats this run";
}

}  // namespace apgas::test
