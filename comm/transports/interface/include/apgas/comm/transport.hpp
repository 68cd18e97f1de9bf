// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract of a transport, which carries whole messages between the ranks of a job.
//
//   - Delivery is reliable and in order for each pair of ranks, including messages of a rank to
//     itself. A message has at most max_payload_bytes and one header. Its contents are opaque to
//     the transport. Where writes_frames() holds, the sender may also write single frames, which
//     arrive in order with the messages, several of them joined to one message.
//   - Any thread may call post() and push(). One thread at a time executes progress(); a call while
//     another thread is inside returns false immediately.
//   - No function blocks. If push() finds the network in use, the thread that uses it sends the
//     message.
//   - A run ends when every rank calls begin_barrier() and posts nothing afterwards. Once
//     barrier_done() returns true, every message of the run has been delivered at every rank, and
//     no message of the next run has been delivered to this one.
//
// Callers: endpoint, and module launch for start, end and abort. Implementations: transports.hpp.
//
//                written by                   read by
//   peer.queued  post (+), completion (-)     any thread
//
// Pairs
//   P1  detach() makes the end of a run visible to the thread that checks attached() at exit.
// Invariants
//   I1  peer.queued is positive exactly while a message to that rank has been posted and its
//       completion has not been noticed. With mpi, completion is the completion of the MPI send;
//       within a process, it is when the receiver takes the message; through shared memory, when
//       the message has been copied into the ring. The first two are noticed only by progress(),
//       so that frames which are sent in the meantime can be batched. Frames that write() has not
//       passed on yet count as one byte.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/biased_lock.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/buffer.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/rank.hpp>
#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

// Receives the messages of progress().
// Context: the thread inside progress(), with no lock held.
class message_sink {
 public:
  virtual void on_message(rank source, buffer message) noexcept = 0;

 protected:
  ~message_sink() = default;
};

struct frame_counts {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
};

class transport {
 public:
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  rank here() const noexcept { return here_; }
  int size() const noexcept { return static_cast<int>(peers_->size()); }
  virtual std::string_view name() const noexcept = 0;  // "ucx", "mpi", "local", "shm", "shm+ucx"
  buffer_pool& pool() noexcept { return pool_; }
  // The owner of the locks that are taken for each message, of this transport and above it: the
  // worker of a place on one processor (scheduler::config::network_locks).
  const std::shared_ptr<base::lock_owner>& lock_owner() const noexcept { return lock_owner_; }

  // Queues a message. It travels at the next push() or progress(). Messages to one rank arrive in
  // the order of their posts, as far as the posts are ordered: within a thread, or by
  // synchronisation between threads.
  // Context: any thread.
  virtual void post(rank dest, buffer message) noexcept = 0;
  // Sends the posted messages, unless another thread is using the network and will send them.
  // Context: any thread.
  virtual void push() noexcept = 0;

  // post() and push() in one call, which is cheaper if the network is free.
  // Context: any thread.
  virtual void send(rank dest, buffer message) noexcept = 0;

  // Whether frames to `dest` can be sent by write(), which is then cheaper than batching them.
  // Context: any thread; the answer does not change.
  virtual bool writes_frames(rank) const noexcept { return false; }
  // Sends one frame of at most written_frame_max bytes, completed by its length and check. Frames
  // that follow each other quickly may wait for the next push() or progress().
  // Requires: writes_frames(dest).
  // Context: any thread.
  virtual void write(rank dest, const frame_header& header,
                     std::span<const std::byte> payload) noexcept;
  static constexpr std::size_t written_frame_max = (std::size_t{16} << 10) - 8;
  // Adds a task to the last frame of write() if that waits to be sent and the two can be one frame
  // (growing_frame). Returns false if they cannot; then the task must be written. Adds the bytes by
  // which the frame has grown to `bytes`, whose writers are calls for the same `dest`.
  // Requires, Context: as write().
  virtual bool add_task(rank dest, const frame_header& header, std::span<const std::byte> payload,
                        base::atomic<std::uint64_t>& bytes) noexcept;
  // What write() has sent to `dest`.
  // Context: any thread.
  virtual frame_counts written(rank) noexcept { return {}; }

  // Sends, receives and notices completions. Calls on_message() for every message that has arrived.
  // Returns true if it did anything.
  // Context: any thread, one at a time.
  virtual bool progress(message_sink& sink) noexcept = 0;
  // The same, but if there is nothing, and looking for arrivals is cheaper than progress(), it
  // looks again up to `looks` times, for a few nanoseconds each.
  virtual bool progress_watching(message_sink& sink, unsigned looks) noexcept {
    static_cast<void>(looks);
    return progress(sink);
  }

  // Bytes posted to `dest` whose completion has not been noticed; 0 exactly when no message to it
  // is in flight.
  // Context: any thread.
  // Cost: one load.
  std::size_t queued_bytes(rank dest) const noexcept {
    return (*peers_)[static_cast<std::size_t>(dest)]->queued.load(base::relaxed);
  }
  // The sum of queued_bytes() over all ranks.
  // Cost: one load per rank.
  std::size_t unsent_bytes() const noexcept;

  // A non-blocking collective exchange of one record per rank, of the same size everywhere. It is
  // complete when exchange_done() returns true; `all` then holds the records in the order of ranks.
  // Only one exchange may be active.
  virtual void begin_exchange(std::span<const std::byte> mine) = 0;
  virtual bool exchange_done(std::vector<std::byte>& all) = 0;

  // The end of a run, see above. The caller repeats progress() until barrier_done() returns true.
  // Afterwards the transport is ready for the next run.
  virtual void begin_barrier() = 0;
  virtual bool barrier_done() = 0;

  // Sets the function that is called when a message for this rank arrives other than through
  // progress(). The sending thread calls it. nullptr: no function. If wakes_on_arrival(), the owner
  // may sleep until this call instead of polling.
  using wake_function = void (*)(void* context);
  virtual void set_wake(wake_function function, void* context) noexcept;
  virtual bool wakes_on_arrival() const noexcept = 0;

  // For transports without wakes_on_arrival(): a file descriptor that becomes readable when
  // something has arrived since arm() returned true; -1 if there is none and the owner must poll.
  // If arm() returns false, the owner must call progress() first.
  // Context: arm as progress.
  virtual int descriptor() const noexcept { return -1; }
  virtual bool arm() noexcept { return false; }

  // Memory that `owner` writes and all ranks of its host read; empty if there is none. Either every
  // rank whose host has several ranks gets the areas of all ranks of its host, or no rank of the
  // job gets any. It is zero until the owner writes to it, and keeps its contents between runs.
  // shares_areas() says which of the two holds, also at a rank that is alone on its host.
  // Context: any thread; the answer does not change.
  virtual std::span<std::byte> shared_area(rank owner) const noexcept {
    static_cast<void>(owner);
    return {};
  }
  virtual bool shares_areas() const noexcept { return false; }

  // Access to the memory of other ranks, or null if this transport carries only messages.
  virtual remote_memory* memory() noexcept { return nullptr; }

  // Ends the job at all ranks.
  // Context: any thread.
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  // An endpoint attaches itself when it starts to use this transport, and detaches itself at the
  // end; only one may be attached. attach() returns the number of the run, counted from 1, which is
  // the same at every rank.
  std::uint64_t attach() noexcept;
  void detach() noexcept;
  bool attached() const noexcept { return attached_.load(base::acquire); }  // P1

 protected:
  struct peer {
    base::atomic<std::size_t> queued{0};
  };

  transport(rank here, int size, buffer_pool& pool);
  // A transport that sends some of its messages through `inside`, and shares its counts.
  explicit transport(transport& inside);

  base::atomic<std::size_t>& queued_to(rank dest) noexcept {
    return (*peers_)[static_cast<std::size_t>(dest)]->queued;
  }
  void add_queued(rank dest, std::size_t bytes) noexcept {
    queued_to(dest).fetch_add(bytes, base::relaxed);
  }
  void sub_queued(rank dest, std::size_t bytes) noexcept;
  void wake() noexcept;
  // The number of the run, as attach() returned it last.
  std::uint64_t run() const noexcept { return epoch_; }

 private:
  const rank here_;
  buffer_pool& pool_;
  const std::shared_ptr<base::lock_owner> lock_owner_;
  const std::shared_ptr<std::vector<base::cache_aligned<peer>>> peers_;
  base::spin_lock wake_lock_;
  wake_function wake_ = nullptr;
  void* wake_context_ = nullptr;
  std::uint64_t epoch_ = 0;
  base::atomic<bool> attached_{false};
};

}  // namespace apgas::inline v0::comm
