// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sending half of the mpi wire. Used under the network lock only.
//
// Invariants
//   I1  Messages to a rank are passed to MPI in the order of submit().
//   I2  At most most_messages messages to each rank are with MPI, and they have at most most_bytes
//       bytes unless there is only one.

#include <cstdint>
#include <vector>

#include "mpi_calls.hpp"
#include "wire.hpp"

namespace apgas::inline v0::comm {

class mpi_sender {
 public:
  mpi_sender(const mpi_channels& channels, buffer_pool& pool);

  void submit(rank dest, buffer message);

  // Appends the sends that have finished.
  void complete(std::vector<sent_message>& finished);

  bool idle() const noexcept { return requests_.empty(); }

  // The number of messages passed to MPI for each rank since the last reset.
  const std::vector<std::uint64_t>& sent() const noexcept { return sent_; }
  void reset_sent();

 private:
  static constexpr int most_messages = 32;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  struct peer {
    message_chain waiting;
    int messages = 0;       // with MPI
    std::size_t bytes = 0;  // with MPI
  };
  struct sending {
    rank dest;
    std::size_t bytes;  // 0 for an announcement
    buffer message;
  };
  static bool may_start(const peer& to, std::size_t bytes) noexcept {
    return to.messages == 0 || (to.messages < most_messages && to.bytes + bytes <= most_bytes);
  }
  void start(rank dest, buffer message);
  void isend(rank dest, buffer message, std::size_t counted, int tag, MPI_Comm where);
  int test();
  sent_message finish(int index);
  void forget_finished();

  const mpi_channels& channels_;
  buffer_pool& pool_;
  std::vector<peer> peers_;
  std::vector<std::uint64_t> sent_;
  std::vector<MPI_Request> requests_;  // requests_[i] sends sendings_[i]
  std::vector<sending> sendings_;
  std::vector<int> indices_;
};

}  // namespace apgas::inline v0::comm
