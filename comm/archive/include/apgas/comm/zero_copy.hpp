// SPDX-License-Identifier: Apache-2.0
#pragma once

// Zero-copy arguments and results within a host. A long range is not copied into the archive. The
// archive contains its address, and the receiver reads the elements from the sender's memory while
// the sender's task waits. Within one process that is an ordinary copy; between processes it uses
// cross-memory attach (CMA), process_vm_readv(2). Decision 0014 has the reasons and measurements.
// Collectives of long data read the memory of other members in the same way.

#include <cstddef>
#include <cstdint>
#include <span>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

// Ranges of at least this size are faster without the intermediate copies.
inline constexpr std::size_t zero_copy_min_bytes = std::size_t{16} << 10;
// The receiver constructs and reads a range in chunks of this size.
inline constexpr std::size_t zero_copy_chunk_bytes = std::size_t{256} << 10;
inline constexpr std::size_t no_zero_copy = SIZE_MAX;  // a threshold that no range reaches

// Identifies a process whose memory may be read. The nonce lets a reader verify that the process
// with this pid is the one that is meant.
// Wire: part of the start record.
struct cma_process {
  std::uint32_t process = 0;         // its pid; 0: it takes no part in zero-copy transfers
  std::uint32_t user_namespace = 0;  // the number of its file in /proc
  std::uint64_t nonce_address = 0;   // the address of its nonce
  std::uint64_t nonce[2] = {};
};

// The descriptor of this process.
// Context: any thread.
APGAS_API const cma_process& this_cma_process() noexcept;

// Whether this process and `from` can read each other's memory, found by reading its nonce. Reading
// fails for a process of another user, in another pid namespace, or if the kernel's settings forbid
// it. Between user namespaces, it may be possible in one direction only, so it counts as
// impossible.
bool can_read(const cma_process& from) noexcept;

// The bytes at `address` if `from` is this process, otherwise null.
APGAS_API const std::byte* address_here(const cma_process& from, std::uint64_t address) noexcept;

// Reads to.size() bytes at `address` of another process.
// Requires: the memory does not change meanwhile, since the task that owns it waits, or the caller
// can find out afterwards whether it did (places/bulletin_board.hpp, P4).
// Throws: serialization_error if the memory cannot be read.
// Cost: a system call.
APGAS_API void read_remote_process(const cma_process& from, std::uint64_t address,
                                   std::span<std::byte> to);

// A process, and whether its memory was found to be readable.
class cma_peer {
 public:
  void set_process(const cma_process& process) noexcept { process_ = process; }
  const cma_process& process() const noexcept { return process_; }
  // Whether the memory of the process can be read. The first call tries it.
  // Context: any thread.
  // Cost: one load, except for the first call.
  bool readable() noexcept;

 private:
  enum class answer : std::uint8_t { unknown, yes, no };

  cma_process process_;
  base::atomic<answer> readable_{answer::unknown};
};

}  // namespace apgas::inline v0::comm
