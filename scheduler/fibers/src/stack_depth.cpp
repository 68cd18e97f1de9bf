// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include "stack_depth.hpp"

namespace apgas::inline v0::scheduler {
namespace {

base::atomic<bool> kept{false};
base::atomic<std::size_t> deepest{0};

}  // namespace

std::size_t used_stack(const fiber& f, std::size_t known) noexcept {
  constexpr std::size_t pages_at_once = 256;
  unsigned char in_memory[pages_at_once];
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(&f) | all_stacks.mask) + 1;
  auto at = reinterpret_cast<std::uintptr_t>(f.stack_bottom);
  while (end - at > known) {
    const std::size_t pages = std::min((end - at - known) / page, pages_at_once);
    if (mincore(reinterpret_cast<void*>(at), pages * page, in_memory) != 0) break;
    const unsigned char* const first = std::find_if(
        in_memory, in_memory + pages, [](unsigned char bits) { return (bits & 1U) != 0; });
    at += static_cast<std::size_t>(first - in_memory) * page;
    if (first != in_memory + pages) return end - at;
  }
  return known;
}

void keep_stack_depths() noexcept { kept.store(true, base::relaxed); }

void note_stack_depth(const fiber& f) noexcept {
  if (!kept.load(base::relaxed)) return;
  std::size_t seen = deepest.load(base::relaxed);
  const std::size_t used = used_stack(f, seen);
  while (used > seen && !deepest.compare_exchange_weak(seen, used, base::relaxed, base::relaxed)) {
  }
}

std::size_t deepest_released_stack() noexcept { return deepest.load(base::relaxed); }

}  // namespace apgas::inline v0::scheduler
