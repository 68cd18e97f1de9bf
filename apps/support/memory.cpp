// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <unistd.h>

#include <apgas/apgas.hpp>

#include "support/memory.hpp"

namespace apps {

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;

std::string text_of(double gibibytes) {
  return std::to_string(static_cast<std::int64_t>(gibibytes)) + " GiB";
}

}  // namespace

placement placement_of_job() {
  const apgas::place here = apgas::here();
  const auto on_host =
      std::ranges::count_if(apgas::places(), [here](apgas::place p) { return p.same_node(here); });
  return {apgas::num_places(), static_cast<int>(on_host)};
}

double memory_of_host() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::string beyond_memory(double bytes, double memory) {
  if (bytes <= memory) return "";
  return "needs about " + text_of(std::ceil(bytes / gibibyte)) +
         " of memory, and this machine has " + text_of(std::floor(memory / gibibyte));
}

}  // namespace apps
