// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract of a transport: whole messages between the ranks of a job.
//
//   - reliable, ordered per pair of ranks, any size up to max_payload_bytes and a header, and to
//     oneself as well; messages are opaque here.
//   - post and push from any thread. progress by one thread at a time; where another one is in it,
//     it returns false at once.
//   - nothing blocks. A push that finds the network busy leaves the message to whoever is there.
//   - a run ends with begin_barrier at every rank, after which it posts nothing. When barrier_done
//     says true, every message of the run was delivered at every rank, and none of the next run
//     was delivered to this one.
//
// Who calls it: endpoint, and launch for start, end and abort. Implementations: transports.hpp.
//
//                written by                   read by
//   peer.queued  post (+), completion (-)     any thread
//
// Pairs
//   P1  detach publishes the end of a run to whoever asks at exit.
// Invariants
//   I1  peer.queued is positive exactly while a message to that rank is posted and its completion
//       was not yet noticed. For mpi completion is MPI's; within a process it is the receiver
//       taking the message. It is noticed in progress only: so what is sent meanwhile can gather.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/comm/buffer.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/rank.hpp>
#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

// Takes messages as they come. Context: the thread in progress, no lock held.
class message_sink {
 public:
  virtual void on_message(rank source, buffer message) noexcept = 0;

 protected:
  ~message_sink() = default;
};

class transport {
 public:
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  rank here() const noexcept { return here_; }
  int size() const noexcept { return static_cast<int>(peers_.size()); }
  virtual std::string_view name() const noexcept = 0;  // "ucx", "mpi", "local"
  buffer_pool& pool() noexcept { return pool_; }

  // Queues a message; messages of one thread to one rank, and those of several whose posts are
  // ordered, arrive in that order. It travels at the next push or progress. Context: any thread.
  virtual void post(rank dest, buffer message) noexcept = 0;
  // Sends what is posted, unless another thread is in the network and will. Context: any thread.
  virtual void push() noexcept = 0;

  // post and push in one; cheaper where the network is free. Context: any thread.
  virtual void send(rank dest, buffer message) noexcept = 0;

  // Sends, receives and notices completions. True if it did anything. Runs on_message for every
  // message that came. Context: any thread, one at a time.
  virtual bool progress(message_sink& sink) noexcept = 0;

  // Bytes posted to that rank and not yet completed; 0 exactly when no message is in flight to it.
  // Context: any thread. Cost: a load.
  std::size_t queued_bytes(rank dest) const noexcept {
    return peers_[static_cast<std::size_t>(dest)]->queued.load(base::relaxed);
  }
  // The sum over all ranks. Cost: one load for each.
  std::size_t unsent_bytes() const noexcept;

  // A collective exchange of one record of the same size at every rank, non-blocking: done when
  // exchange_done returns true, `all` then holds the records in order of rank. One at a time.
  virtual void begin_exchange(std::span<const std::byte> mine) = 0;
  virtual bool exchange_done(std::vector<std::byte>& all) = 0;

  // The end of a run, see above. progress must be called until barrier_done; afterwards the
  // transport is as new.
  virtual void begin_barrier() = 0;
  virtual bool barrier_done() = 0;

  // Called after every message that this rank's next progress will deliver and that did not come
  // by progress: from whichever thread sent it. nullptr: nobody. Where wakes_on_arrival, the owner
  // may sleep until then instead of polling.
  using wake_function = void (*)(void* context);
  void set_wake(wake_function function, void* context) noexcept;
  virtual bool wakes_on_arrival() const noexcept = 0;

  // Where arrivals do not wake: a descriptor that can be read once something has come since arm()
  // said true; -1 where there is none and the owner must poll. arm() false: look first.
  // Context: arm as progress.
  virtual int descriptor() const noexcept { return -1; }
  virtual bool arm() noexcept { return false; }

  // How ranks reach each other's memory; null: by messages only.
  virtual remote_memory* memory() noexcept { return nullptr; }

  // Ends the whole job, at all ranks. Context: any thread.
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  // An endpoint says when it begins and ends to use this transport; one at a time. Gives the number
  // of the run, counted from 1; the same at every rank.
  std::uint64_t attach() noexcept;
  void detach() noexcept;
  bool attached() const noexcept { return attached_.load(base::acquire); }  // P1

 protected:
  struct peer {
    base::atomic<std::size_t> queued{0};
  };

  transport(rank here, int size, buffer_pool& pool);

  void add_queued(rank dest, std::size_t bytes) noexcept {
    peers_[static_cast<std::size_t>(dest)]->queued.fetch_add(bytes, base::relaxed);
  }
  void sub_queued(rank dest, std::size_t bytes) noexcept;
  void wake() noexcept;

 private:
  const rank here_;
  buffer_pool& pool_;
  std::vector<base::cache_aligned<peer>> peers_;
  base::spin_lock wake_lock_;
  wake_function wake_ = nullptr;
  void* wake_context_ = nullptr;
  std::uint64_t epoch_ = 0;
  base::atomic<bool> attached_{false};
};

}  // namespace apgas::inline v0::comm
