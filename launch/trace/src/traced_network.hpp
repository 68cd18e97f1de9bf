// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transport.hpp>
#include <apgas/scheduler/trace_recorder.hpp>

// The two sides of a network of which a trace is recorded. traced_transport stands between the
// endpoint and the transport, and records each frame that is sent; traced_sink stands between the
// endpoint and the receiver of its frames. Frames between two places arrive in the order in which
// they are sent, so both sides number them alike, and nothing more need be sent: the number is that
// of the arrow from one place to the other.
//
// So that a frame is recorded in the task that sends it, each goes to the transport at once: with a
// trace, small frames to places of other hosts are not batched.
//
// Pairs
//   P1  A thread that sees the recorder sees the complete object.
namespace apgas::inline v0::launch {

using recorder_pointer = base::atomic<scheduler::trace_recorder*>;

class traced_transport final : public comm::transport {
 public:
  // Attaches to `inside`, which must outlive this object. Nothing is recorded while `recorder` is
  // null.
  traced_transport(comm::transport& inside, const recorder_pointer& recorder);
  ~traced_transport() override;

  std::string_view name() const noexcept override { return inside_.name(); }
  void post(comm::rank dest, comm::buffer message) noexcept override;
  void push() noexcept override { inside_.push(); }
  void send(comm::rank dest, comm::buffer message) noexcept override;
  bool writes_frames(comm::rank) const noexcept override { return true; }
  void write(comm::rank dest, const comm::frame_header& header,
             std::span<const std::byte> payload) noexcept override;
  comm::frame_counts written(comm::rank dest) noexcept override;
  bool progress(comm::message_sink& sink) noexcept override { return inside_.progress(sink); }
  bool progress_watching(comm::message_sink& sink, unsigned looks) noexcept override {
    return inside_.progress_watching(sink, looks);
  }
  void begin_exchange(std::span<const std::byte> mine) override { inside_.begin_exchange(mine); }
  bool exchange_done(std::vector<std::byte>& all) override { return inside_.exchange_done(all); }
  void begin_barrier() override { inside_.begin_barrier(); }
  bool barrier_done() override { return inside_.barrier_done(); }
  void set_wake(wake_function function, void* context) noexcept override {
    inside_.set_wake(function, context);
  }
  bool wakes_on_arrival() const noexcept override { return inside_.wakes_on_arrival(); }
  int descriptor() const noexcept override { return inside_.descriptor(); }
  bool arm() noexcept override { return inside_.arm(); }
  std::span<std::byte> shared_area(comm::rank owner) const noexcept override {
    return inside_.shared_area(owner);
  }
  bool shares_areas() const noexcept override { return inside_.shares_areas(); }
  comm::remote_memory* memory() noexcept override { return inside_.memory(); }
  [[noreturn]] void abort(int code) noexcept override;

 private:
  // To one place. The lock makes the order of the numbers that of the frames.
  struct link {
    base::spin_lock lock;
    std::uint64_t frames = 0;
    comm::frame_counts written;  // by this object, in messages of one frame
  };

  link& to(comm::rank dest) noexcept { return *links_[static_cast<std::size_t>(dest)]; }
  void record(link& on, comm::rank dest, const comm::frame_header& header,
              std::size_t payload) noexcept;
  void record_message(link& on, comm::rank dest, const comm::buffer& message) noexcept;

  comm::transport& inside_;
  const recorder_pointer& recorder_;
  std::vector<base::cache_aligned<link>> links_;
};

class traced_sink final : public comm::frame_sink {
 public:
  traced_sink(comm::frame_sink& inside, comm::rank here, int places,
              const recorder_pointer& recorder);

  void on_frame(const comm::inbound_frame& frame) noexcept override;
  void on_message_end() noexcept override { inside_.on_message_end(); }
  void on_bad_message(comm::rank source, const std::string& what) noexcept override {
    inside_.on_bad_message(source, what);
  }

 private:
  comm::frame_sink& inside_;
  const comm::rank here_;
  const recorder_pointer& recorder_;
  std::vector<std::uint64_t> frames_;  // from each place
};

}  // namespace apgas::inline v0::launch
