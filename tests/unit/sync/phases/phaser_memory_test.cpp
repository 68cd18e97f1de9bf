// SPDX-License-Identifier: Apache-2.0
// The memory that clocks and phasers take for many workers, which docs/scaling.md states. The
// program replaces operator new, so that it can count the bytes.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <apgas/sync/phase_core.hpp>

namespace {

std::atomic<std::size_t> allocated{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocated += bytes;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using apgas::sync::phase_core;
using apgas::sync::phase_kind;

// Returns the bytes of a clock or phaser of a place with so many workers, before tasks wait.
std::size_t bytes_of(phase_kind kind, int workers, int tiers, int degree) {
  const std::size_t before = allocated;
  phase_core& core = phase_core::make(kind, 0, workers, tiers, degree);
  const std::size_t bytes = allocated - before;
  core.release();
  return bytes;
}

TEST(PhaseMemory, OfAClockIsBounded) {
  EXPECT_LE(bytes_of(phase_kind::clock, 16, 1, 2), 1024U);
  EXPECT_LE(bytes_of(phase_kind::clock, 1024, 1, 2), 2048U);
}

// It grows to a tree with a leaf for every eight workers.
TEST(PhaseMemory, OfACrowdedClockIsProportionalToTheWorkers) {
  for (const int workers : {64, 256, 1024}) {
    const std::size_t before = allocated;
    phase_core& core = phase_core::make(phase_kind::clock, 0, workers, 1, 2);
    core.root().join(0, 1000);
    core.grow_if_crowded(1000);
    EXPECT_TRUE(core.is_tree());
    EXPECT_LE(allocated - before, 2048U + 80U * workers) << workers << " workers";
    core.abandon();
  }
}

// A phaser has such a tree from the beginning.
TEST(PhaseMemory, OfAPhaserIsProportionalToTheWorkers) {
  for (const int workers : {64, 256, 1024}) {
    EXPECT_LE(bytes_of(phase_kind::phaser, workers, 2, workers / 8), 80U * 1024 * workers / 1024)
        << workers << " workers";
  }
}

}  // namespace
