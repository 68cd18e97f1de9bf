// SPDX-License-Identifier: Apache-2.0
#pragma once

// The receiving half of the mpi transport. Used under the network lock only.
//
// A ring of receives from any rank is always posted. MPI matches messages with them in the order of
// posting, and they are looked at in that order, so what comes out is in order for each pair of
// ranks. A message too long for them is announced there and received by itself; what follows it
// from the same rank is held back until it is complete.
//
// Invariants
//   I1  the receives [head_, head_ + posted_) of the ring are with MPI, the oldest first.
//   I2  held_[r] is empty or begins with a message that is not yet complete.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <apgas/comm/message_queue.hpp>

#include "mpi_calls.hpp"

namespace apgas::inline v0::comm {

class mpi_receiver {
 public:
  mpi_receiver(const mpi_channels& channels, buffer_pool& pool);

  // Appends what came to `arrived`. True if anything did.
  bool receive(message_chain& arrived);

  // Messages that began to arrive since the last reset, and whether all of them are complete.
  std::uint64_t received() const noexcept { return received_; }
  bool idle() const noexcept { return bulk_.empty(); }
  void reset_received() noexcept { received_ = 0; }

  // Takes the posted receives back. Requires: nothing is on its way to this rank.
  void close();

 private:
  static constexpr std::size_t ring_size = 64;
  static constexpr int most_at_once = 64;

  struct posted {
    MPI_Request request = MPI_REQUEST_NULL;
    buffer block;
  };
  struct held {
    buffer message;
    bool complete;
  };
  struct bulk {
    rank source;
    held* message;
  };

  posted& slot(std::size_t i) noexcept { return ring_[i % ring_size]; }
  void repost();
  void take_message(rank source, posted& from, std::size_t bytes, message_chain& arrived);
  void take_announcement(rank source, const posted& from, std::size_t bytes);
  void deliver(rank source, buffer message, message_chain& arrived);
  bool complete_bulk(message_chain& arrived);

  const mpi_channels& channels_;
  buffer_pool& pool_;
  std::vector<posted> ring_;
  std::size_t head_ = 0;
  std::size_t posted_ = 0;
  std::vector<std::deque<held>> held_;      // for each rank
  std::vector<MPI_Request> bulk_requests_;  // bulk_requests_[i] receives bulk_[i]
  std::vector<bulk> bulk_;
  std::uint64_t received_ = 0;
};

}  // namespace apgas::inline v0::comm
