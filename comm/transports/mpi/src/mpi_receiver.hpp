// SPDX-License-Identifier: Apache-2.0
#pragma once

// The receiving half of the mpi wire. Used under the network lock only.
//
// A ring of receives from any source is always posted. MPI matches messages with the receives in
// the order of posting, and they are tested in that order, so messages stay in order for each pair
// of ranks. A message that is too long for them is announced by a short one and received
// separately. Later messages of the same rank are held back until it is complete.
//
// Invariants
//   I1  The receives [head_, head_ + posted_) of the ring are posted, the oldest first.
//   I2  held_[r] is empty or begins with an incomplete message.

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

  // Appends the messages that arrived to `arrived`. Returns true if there were any.
  bool receive(message_chain& arrived);

  // The number of messages that began to arrive since the last reset, and whether all of them are
  // complete.
  std::uint64_t received() const noexcept { return received_; }
  bool idle() const noexcept { return bulk_.empty(); }
  void reset_received() noexcept { received_ = 0; }

  // Cancels the posted receives.
  // Requires: no message to this rank is in flight.
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
