// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transport around another one that delays messages, for tests. A posted message waits for a
// random time before it is passed on. Messages between one pair of ranks stay in order, as the
// contract requires; those of different pairs may overtake each other. Nothing of this is active
// unless a test asks for it.
//
//   post ─▶ posted_ ─▶ one link per destination ─▶ the inner transport
//
//                    written by                  read by
//   posted_          any thread                  holder of progress_lock_
//   all else         holder of progress_lock_    holder of progress_lock_
//
// Invariants
//   I1  progress_lock_ is acquired before any lock of the inner transport. It is held while a sink
//       runs, which may post.
//   I2  Only the holder of progress_lock_ posts to the inner transport. So the bytes queued there
//       for a rank are those that were passed on and are not complete, and the queued bytes of this
//       transport are the sum of those that wait here and those queued there.
//   I3  The end of the run begins at the inner transport only when no message waits here any more.

#include <chrono>
#include <cstdint>
#include <vector>

#include <apgas/base/random.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/transport.hpp>

namespace apgas::inline v0::comm {

struct delay_options {
  std::chrono::microseconds longest;
  // The n-th message between two ranks has the same delay in every run with this seed.
  std::uint64_t seed;
};

class delayed_transport final : public transport {
 public:
  // Attaches to `inside`, which must outlive this object.
  delayed_transport(transport& inside, delay_options options);
  ~delayed_transport() override;

  std::string_view name() const noexcept override { return inside_.name(); }
  // False: the owner is not woken when the delay of a message has passed.
  bool wakes_on_arrival() const noexcept override { return false; }
  void post(rank dest, buffer message) noexcept override;
  void push() noexcept override {}
  void send(rank dest, buffer message) noexcept override { post(dest, std::move(message)); }
  bool progress(message_sink& sink) noexcept override;
  void begin_exchange(std::span<const std::byte> mine) override { inside_.begin_exchange(mine); }
  bool exchange_done(std::vector<std::byte>& all) override { return inside_.exchange_done(all); }
  void begin_barrier() override;
  bool barrier_done() override;
  remote_memory* memory() noexcept override { return inside_.memory(); }
  [[noreturn]] void abort(int code) noexcept override;

 private:
  using clock = std::chrono::steady_clock;

  struct link {
    explicit link(std::uint64_t seed) : random(seed) {}

    base::random_engine random;
    message_chain waiting;
    clock::time_point release_time;  // when the first waiting message may be passed on
    std::size_t handed_over = 0;     // bytes passed on and not known to be complete
  };

  link& to(rank dest) noexcept { return links_[static_cast<std::size_t>(dest)]; }
  void draw_release_time(link& on, clock::time_point now) noexcept;
  bool hand_over() noexcept;
  void notice_completions() noexcept;

  transport& inside_;
  const delay_options options_;
  message_queue posted_;

  base::spin_lock progress_lock_;
  std::vector<link> links_;
  std::size_t waiting_ = 0;  // messages in all links
  bool end_asked_ = false;   // but not yet begun at the inner transport
};

}  // namespace apgas::inline v0::comm
