// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <apgas/comm/endpoint.hpp>
#include <apgas/sync/remote_finish.hpp>
#include <apgas/sync/remote_task.hpp>

namespace apgas::inline v0::sync {

// Receives the frames of one place and hands each to the protocol it belongs to.
class frame_receiver final : public comm::frame_sink {
 public:
  explicit frame_receiver(place_state& place) : place_(place) {}
  // Sets the function for control frames of no protocol below module launch. It may throw
  // std::bad_alloc. Context: before any frame arrives.
  using control_function = void (*)(void* context, const comm::inbound_frame& frame);
  void set_control(control_function function, void* context) {
    control_ = function;
    control_context_ = context;
  }

  void on_frame(const comm::inbound_frame& frame) noexcept override;
  void on_message_end() noexcept override;

 private:
  // Spawns of one finish that follow each other in a message (task_batch in frame_receiver.cpp).
  struct frame_batch {
    comm::inbound_frame first{};
    std::optional<arrived_frames> frames{};
    std::uint64_t tasks = 0;
    std::size_t bytes = 0;
  };

  // These throw std::bad_alloc.
  void hand_on(const comm::inbound_frame& frame);
  void hand_on_other(const comm::inbound_frame& frame);
  void on_reply(const comm::inbound_frame& frame);
  bool join_batch(const comm::inbound_frame& frame);
  void take_batch();
  void on_task(const comm::inbound_frame& frame);

  [[noreturn]] void failed(const comm::inbound_frame& first, std::size_t bytes) const noexcept;

  place_state& place_;
  frame_batch batch_;
  control_function control_ = nullptr;
  void* control_context_ = nullptr;
};

}  // namespace apgas::inline v0::sync
