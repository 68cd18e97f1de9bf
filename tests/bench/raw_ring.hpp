// SPDX-License-Identifier: Apache-2.0
#pragma once

// A peer of place_bench: two rings of bytes in shared memory, one in each direction, between the
// first two processes of an MPI job. It does nothing but move records: no sleeping, no errors, one
// thread on each side. So it shows what the hardware allows.

#include <cstddef>
#include <memory>

#include "harness.hpp"

namespace bench {

class raw_ring {
 public:
  // Does nothing if the build has no MPI, if `wanted` is false, or if the two processes cannot
  // share memory. Called by the first two processes, both with the same value. Requires: MPI is
  // initialised.
  explicit raw_ring(bool wanted);
  ~raw_ring();
  raw_ring(const raw_ring&) = delete;
  raw_ring& operator=(const raw_ring&) = delete;

  [[nodiscard]] bool there() const { return connection_ != nullptr; }

  // Longer records are not for this peer.
  static constexpr std::size_t max_bytes = 1024;

  // Both processes call these. The second process returns what it received. The first one checks
  // the first 8 bytes of each record. Requires: 8 <= bytes <= max_bytes.
  sample ping_pong(std::size_t bytes, int rounds) const;

  // The first process sends `records` records of 8 bytes, which become visible 16 at a time, and
  // waits until the second one returns their sum.
  sample one_way(int records) const;

 private:
  struct connection;
  std::unique_ptr<connection> connection_;
};

}  // namespace bench
