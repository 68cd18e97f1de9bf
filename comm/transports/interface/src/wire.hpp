// SPDX-License-Identifier: Apache-2.0
#pragma once

// What moves whole messages between the ranks of a job that MPI started. Used under the network
// lock of wire_transport only, but for the constants. Implementations: mpi_wire.hpp, ucx_wire.hpp.
//
//   - in order for each pair of ranks, any size, never to oneself; messages are opaque.
//   - nothing blocks, but for meet() and close().

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

// A message that was sent: its block may be used again.
struct sent_message {
  rank dest;
  std::size_t bytes;
};

class wire {
 public:
  wire() = default;
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;
  virtual ~wire() = default;

  virtual std::string_view name() const noexcept = 0;

  // What ranks must know of each other before the first message. Collective.
  virtual void rendezvous() {}

  virtual void submit(rank dest, buffer message) = 0;

  // Appends what came to `arrived`. True if anything did.
  virtual bool receive(message_chain& arrived) = 0;
  // Messages that began to arrive since the last reset, and whether all of them are complete.
  virtual std::uint64_t received() const noexcept = 0;
  virtual bool receiving() const noexcept = 0;

  // Appends the messages whose sending was found to be over.
  virtual void complete(std::vector<sent_message>& finished) = 0;
  virtual bool sending() const noexcept = 0;
  // Messages submitted for each rank since the last reset.
  virtual const std::vector<std::uint64_t>& sent() const noexcept = 0;

  virtual void reset_counts() = 0;

  // A descriptor that can be read when something may have come since arm() said true; -1: there is
  // none. arm() false: something may have come already.
  virtual int descriptor() const noexcept { return -1; }
  virtual bool arm() noexcept { return false; }

  // Memory that ranks reach in each other; regions end under the network lock, too. Null: none.
  virtual remote_memory* memory() noexcept { return nullptr; }

  // Before MPI ends. Requires: nothing is on its way. Collective.
  virtual void close() = 0;
};

struct mpi_channels;

// To be met by all ranks, or given up by all. Null where UCX cannot be used at this rank or is not
// in this build; `why_not` then says why. Throws: std::bad_alloc.
std::unique_ptr<wire> open_ucx_wire(const mpi_channels& channels, buffer_pool& pool,
                                    std::string& why_not);

}  // namespace apgas::inline v0::comm
