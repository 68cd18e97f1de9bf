// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include <unistd.h>

#include "support/memory.hpp"

namespace apps {

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;

std::string text_of(double gibibytes) {
  return std::to_string(static_cast<std::int64_t>(gibibytes)) + " GiB";
}

}  // namespace

std::string beyond_memory(double bytes) {
  const double there =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes <= there) return "";
  return "needs about " + text_of(std::ceil(bytes / gibibyte)) +
         " of memory, and this machine has " + text_of(std::floor(there / gibibyte));
}

}  // namespace apps
