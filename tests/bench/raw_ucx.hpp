// SPDX-License-Identifier: Apache-2.0
#pragma once

// A peer of place_bench: UCX active messages between the first two processes of an MPI job, with as
// little overhead as possible: one worker for one thread, no checks on arrival, polling without a
// pause.

#include <cstddef>
#include <memory>

namespace bench {

class raw_ucx {
 public:
  // Does nothing if the build has no UCX or `wanted` is false. Called by the first two processes,
  // both with the same value. Requires: MPI is initialised.
  explicit raw_ucx(bool wanted);
  ~raw_ucx();
  raw_ucx(const raw_ucx&) = delete;
  raw_ucx& operator=(const raw_ucx&) = delete;

  [[nodiscard]] bool there() const { return connection_ != nullptr; }

  // Seconds for `rounds` round trips of `bytes` bytes. Both processes call it. Without `echo` the
  // bytes never change, and nobody looks at those of short messages: they stay in the cache of the
  // sender. With `echo`, as with an `at` whose function returns its argument, each process takes
  // the bytes that it receives, and the second one returns them.
  double ping_pong(std::size_t bytes, int rounds, bool echo = false) const;

  // At the first process: seconds for `rounds` puts into the memory of the other process, each
  // flushed, or for as many gets from there, one after another. Both processes call it. Requires:
  // bytes <= memory_bytes.
  double put(std::size_t bytes, int rounds) const;
  double get(std::size_t bytes, int rounds) const;
  static constexpr std::size_t memory_bytes = std::size_t{1} << 20;

 private:
  struct connection;
  std::unique_ptr<connection> connection_;
};

}  // namespace bench
