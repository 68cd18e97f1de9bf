// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a process lends to another one of its node: a long range of an archive is not copied
// into it, but named, and the other side reads it from where it lies while the lender waits. Within
// a process it is read as any memory, between processes by process_vm_readv. Decision 0014.

#include <cstddef>
#include <cstdint>
#include <span>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

// Ranges from here on are worth it.
inline constexpr std::size_t zero_copy_min_bytes = std::size_t{16} << 10;
// A range is made and read in pieces of so many bytes.
inline constexpr std::size_t zero_copy_chunk_bytes = std::size_t{256} << 10;
inline constexpr std::size_t no_zero_copy = SIZE_MAX;  // where such a number is asked for

// Wire: part of the start record. By what others find a process, and see that it is the right one.
struct cma_process {
  std::uint64_t process = 0;  // its number; 0: it does not lend, and nobody lends to it
  std::uint64_t sign_at = 0;  // where in it these lie:
  std::uint64_t sign[2] = {};
};

// Of this process. Context: any thread.
const cma_process& this_cma_process() noexcept;

// Whether this process can read its memory: tries it. Another user's cannot be read, nor that of
// another namespace of processes, nor where the kernel's settings forbid it.
bool can_read(const cma_process& from) noexcept;

// The bytes at `address`, if it is this process; else null.
const std::byte* address_here(const cma_process& from, std::uint64_t address) noexcept;

// Requires: the lender waits. Throws: serialization_error if it cannot be read.
// Cost: a system call.
void read_remote_process(const cma_process& from, std::uint64_t address, std::span<std::byte> to);

// A lender and whether it was found that it can be read.
class cma_peer {
 public:
  void is(const cma_process& who) noexcept { who_ = who; }
  const cma_process& who() const noexcept { return who_; }
  // Cost: a load but for the first time. Context: any thread.
  bool readable() noexcept;

 private:
  enum class answer : std::uint8_t { unknown, yes, no };

  cma_process who_;
  base::atomic<answer> readable_{answer::unknown};
};

}  // namespace apgas::inline v0::comm
