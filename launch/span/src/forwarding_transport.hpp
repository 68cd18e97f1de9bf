// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/comm/transport.hpp>

// A transport that passes everything on to another one. Derived classes see each frame that is
// sent: since it says that it writes frames, every frame comes to write() or, a large one, alone in
// a message to post(). So each goes to the network at once, in the task that sends it: small frames
// to places of other hosts are not batched.
namespace apgas::inline v0::launch {

class forwarding_transport : public comm::transport {
 public:
  // Attaches to `inside`, which must outlive this object.
  explicit forwarding_transport(comm::transport& inside);
  ~forwarding_transport() override;

  std::string_view name() const noexcept override { return inside_.name(); }
  void push() noexcept override { inside_.push(); }
  void send(comm::rank dest, comm::buffer message) noexcept override;
  bool writes_frames(comm::rank) const noexcept override { return true; }
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

 protected:
  comm::transport& inside() noexcept { return inside_; }
  // Writes a frame, or posts it as a message if `inside` writes none or it is too long for that.
  // Returns whether it was posted; then push() must follow.
  bool pass_on(comm::rank dest, const comm::frame_header& header,
               std::span<const std::byte> payload) noexcept;

 private:
  // What was posted to one place for write().
  struct posted_frames {
    base::atomic<std::uint64_t> frames{0};
    base::atomic<std::uint64_t> bytes{0};
  };

  comm::transport& inside_;
  std::vector<base::cache_aligned<posted_frames>> posted_;
};

}  // namespace apgas::inline v0::launch
