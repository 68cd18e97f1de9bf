// SPDX-License-Identifier: Apache-2.0
#pragma once

// The transport of a job that MPI started. A wire moves the messages, and MPI's collectives connect
// the ranks at the start and the end of a run. MPI runs with MPI_THREAD_SERIALIZED, and a wire is
// used by one thread at a time, so all calls of both happen under network_. A sender never waits
// for that lock: if it is taken, the sender leaves the message in posted_, and the holder checks
// posted_ again after it has released the lock.
//
//               written by                        read by
//   posted_     any thread                        holder of network_
//   to_self_    any thread                        holder of progress_lock_
//   arrived_    holder of progress_lock_          holder of progress_lock_
//   all else    holder of network_                holder of network_
//
// Invariants
//   I1  progress_lock_ is acquired before network_. Neither is held during a post, except that
//       sinks, which run under progress_lock_, may post.
//   I2  A posted message is sent by the thread that posted it, by a later push(), or by progress().
// Pairs
//   P1  Full fences. One thread posts, executes the fence and finds the network taken; the holder
//       releases the lock, executes the fence and checks posted_. At least one of them sees the
//       other's write, so no message is left behind.

#include <memory>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/shutdown_steps.hpp>
#include <apgas/comm/transport.hpp>

#include "mpi_calls.hpp"
#include "wire.hpp"

namespace apgas::inline v0::comm {

class wire_transport final : public transport, private remote_memory {
 public:
  wire_transport(const mpi_channels& channels, buffer_pool& pool, std::unique_ptr<wire> made);

  std::string_view name() const noexcept override { return wire_->name(); }
  bool wakes_on_arrival() const noexcept override { return false; }
  int descriptor() const noexcept override { return wire_->descriptor(); }
  bool arm() noexcept override;
  void post(rank dest, buffer message) noexcept override;
  void push() noexcept override;
  void send(rank dest, buffer message) noexcept override;
  bool progress(message_sink& sink) noexcept override;
  void begin_exchange(std::span<const std::byte> mine) override;
  bool exchange_done(std::vector<std::byte>& all) override;
  void begin_barrier() override;
  bool barrier_done() override;
  remote_memory* memory() noexcept override;
  [[noreturn]] void abort(int code) noexcept override;

  // Closes the wire before MPI ends.
  // Requires: no run is active.
  // Context: the main thread.
  void close();

 private:
  std::unique_ptr<shared_segment> make_segment(std::size_t bytes) override;
  std::unique_ptr<attached_segment> attach(rank home, std::span<const std::byte> key) override;

  // Holds the network lock. Its destructor sends the messages that were posted in the meantime.
  class network_hold {
   public:
    explicit network_hold(wire_transport& t) noexcept : transport_(t) { t.network_.lock(); }
    network_hold(const network_hold&) = delete;
    network_hold& operator=(const network_hold&) = delete;
    ~network_hold() { transport_.leave_network(); }

   private:
    wire_transport& transport_;
  };

  void submit(rank dest, buffer message) noexcept;
  void submit_posted();
  void leave_network() noexcept;
  bool work_network();
  int deliver(message_chain& from, message_sink& sink);
  void take_end_step();

  const mpi_channels channels_;
  message_queue posted_;
  message_queue to_self_;

  alignas(64) base::spin_lock progress_lock_;
  message_chain arrived_;
  message_chain self_arrived_;

  alignas(64) base::spin_lock network_;
  const std::unique_ptr<wire> wire_;
  std::vector<sent_message> finished_;
  MPI_Request collective_ = MPI_REQUEST_NULL;
  std::vector<std::byte> record_;   // of the exchange
  std::vector<std::byte> records_;  // of the exchange
  std::vector<std::uint64_t> sent_;
  std::uint64_t expected_ = 0;
  shutdown_steps end_;
};

}  // namespace apgas::inline v0::comm
