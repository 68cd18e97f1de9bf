// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transport around another one, for tests: what is posted waits for a random time before it is
// handed on. Messages of a pair of ranks stay in order, as the contract promises; those of
// different pairs overtake each other. Nothing of it is there where no test asks.
//
//   post ─▶ posted_ ─▶ a link for each destination ─▶ the transport inside
//
//                    written by                 read by
//   posted_          any thread                 holder of seat_
//   all else         holder of seat_            holder of seat_
//
// Invariants
//   I1  seat_ is taken before anything of the transport inside. It is held while a sink runs, which
//       may post.
//   I2  only the holder of seat_ posts to the transport inside: what is queued there to a rank is
//       what was handed on and is not complete. So the queued bytes of the contract, which throttle
//       senders, are those that wait here and those that are queued there.
//   I3  the end begins inside when nothing waits here any more.

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
  // The n-th message from a rank to another is delayed by the same time in each run with this seed.
  std::uint64_t seed;
};

class delayed_transport final : public transport {
 public:
  // Attaches to `inside`, which must outlive it.
  delayed_transport(transport& inside, delay_options options);
  ~delayed_transport() override;

  std::string_view name() const noexcept override { return inside_.name(); }
  // Nobody wakes the owner when the time of a message has come.
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
    clock::time_point due;        // of the first that waits
    std::size_t handed_over = 0;  // bytes, not known to be complete
  };

  link& to(rank dest) noexcept { return links_[static_cast<std::size_t>(dest)]; }
  void draw_due(link& on, clock::time_point now) noexcept;
  bool hand_over() noexcept;
  void notice_completions() noexcept;

  transport& inside_;
  const delay_options options_;
  message_queue posted_;

  base::spin_lock progress_lock_;
  std::vector<link> links_;
  std::size_t waiting_ = 0;  // messages in all links
  bool end_asked_ = false;   // and not yet begun inside
};

}  // namespace apgas::inline v0::comm
