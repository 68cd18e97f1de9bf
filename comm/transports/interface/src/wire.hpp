// SPDX-License-Identifier: Apache-2.0
#pragma once

// A wire moves whole messages between the ranks of a job that MPI started. wire_transport calls it
// under its network lock; only the constants are read without it. Implementations: mpi_wire.hpp,
// ucx_wire.hpp.
//
//   - Messages of any size arrive in order for each pair of ranks. A rank never sends to itself
//     through a wire. The contents are opaque.
//   - No function blocks except rendezvous() and close().

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

// A message that has been sent, so that its buffer may be reused.
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

  // Exchanges what ranks need to know of each other before the first message. Collective.
  virtual void rendezvous() {}

  virtual void submit(rank dest, buffer message) = 0;

  // Appends the messages that arrived to `arrived`. Returns true if there were any.
  virtual bool receive(message_chain& arrived) = 0;
  // The number of messages that began to arrive since the last reset, and whether any of them is
  // incomplete.
  virtual std::uint64_t received() const noexcept = 0;
  virtual bool receiving() const noexcept = 0;

  // Appends the messages whose sending has completed.
  virtual void complete(std::vector<sent_message>& finished) = 0;
  virtual bool sending() const noexcept = 0;
  // The number of messages submitted to each rank since the last reset.
  virtual const std::vector<std::uint64_t>& sent() const noexcept = 0;

  virtual void reset_counts() = 0;

  // A file descriptor that becomes readable when something may have arrived since arm() returned
  // true; -1 if there is none. arm() returns false if something may have arrived already.
  virtual int descriptor() const noexcept { return -1; }
  virtual bool arm() noexcept { return false; }

  // Segments that ranks can map from each other; null if the wire has none. Segments, too, are
  // released under the network lock.
  virtual remote_memory* memory() noexcept { return nullptr; }

  // Closes the wire before MPI ends. Collective.
  // Requires: nothing is in flight.
  virtual void close() = 0;
};

struct mpi_channels;

// Opens a UCX wire at this rank. All ranks must then either call rendezvous() on theirs or destroy
// it. Returns null if UCX cannot be used at this rank or is not part of this build, with the reason
// in `why_not`.
// Throws: std::bad_alloc.
std::unique_ptr<wire> open_ucx_wire(const mpi_channels& channels, buffer_pool& pool,
                                    std::string& why_not);

}  // namespace apgas::inline v0::comm
