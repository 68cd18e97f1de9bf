// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <unistd.h>

#include "support/memory.hpp"

namespace apps {

namespace {

std::string gibibytes(double bytes) {
  constexpr double unit = 1024.0 * 1024 * 1024;
  return std::to_string(static_cast<std::int64_t>(bytes / unit) + 1) + " GiB";
}

}  // namespace

std::string beyond_memory(double bytes) {
  const double there =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes <= there) return "";
  return "needs about " + gibibytes(bytes) + " of memory, and this machine has " + gibibytes(there);
}

}  // namespace apps
