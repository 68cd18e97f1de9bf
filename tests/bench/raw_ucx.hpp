// SPDX-License-Identifier: Apache-2.0
#pragma once

// A peer of place_bench: UCX active messages between the first two processes of an MPI job, as
// plain as they can be: one worker for one thread, nothing looked at on arrival, polled without a
// pause.

#include <cstddef>
#include <memory>

namespace bench {

class raw_ucx {
 public:
  // Nothing where the build has no UCX or `wanted` is false. Collective; MPI has been started.
  explicit raw_ucx(bool wanted);
  ~raw_ucx();
  raw_ucx(const raw_ucx&) = delete;
  raw_ucx& operator=(const raw_ucx&) = delete;

  [[nodiscard]] bool there() const { return connection_ != nullptr; }

  // Seconds of `rounds` round trips of so many bytes; both processes call it.
  double ping_pong(std::size_t bytes, int rounds) const;

  // Of the first process: seconds of so many puts into memory of the other one, each flushed, or of
  // gets from there, one after the other. Both processes call it; bytes <= memory_bytes.
  double put(std::size_t bytes, int rounds) const;
  double get(std::size_t bytes, int rounds) const;
  static constexpr std::size_t memory_bytes = std::size_t{1} << 20;

 private:
  struct connection;
  std::unique_ptr<connection> connection_;
};

}  // namespace bench
