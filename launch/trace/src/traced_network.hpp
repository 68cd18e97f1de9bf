// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/trace_recorder.hpp>

#include "forwarding_transport.hpp"

// The two sides of a network of which a trace is recorded. traced_transport stands between the
// endpoint and the transport, and records each frame that is sent; traced_sink stands between the
// endpoint and the receiver of its frames. Frames between two places arrive in the order in which
// they are sent, so both sides number them alike, and nothing more need be sent: the number is that
// of the arrow from one place to the other.
//
// Pairs
//   P1  A thread that sees the recorder sees the complete object.
namespace apgas::inline v0::launch {

using recorder_pointer = base::atomic<scheduler::trace_recorder*>;

class traced_transport final : public forwarding_transport {
 public:
  // Nothing is recorded while `recorder` is null.
  traced_transport(comm::transport& inside, const recorder_pointer& recorder);

  void post(comm::rank dest, comm::buffer message) noexcept override;
  void write(comm::rank dest, const comm::frame_header& header,
             std::span<const std::byte> payload) noexcept override;

 private:
  // To one place. The lock makes the order of the numbers that of the frames.
  struct link {
    base::spin_lock lock;
    std::uint64_t frames = 0;
  };

  link& to(comm::rank dest) noexcept { return *links_[static_cast<std::size_t>(dest)]; }
  void record(link& on, comm::rank dest, const comm::frame_header& header,
              std::size_t payload) noexcept;

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
