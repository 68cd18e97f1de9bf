// SPDX-License-Identifier: Apache-2.0

// The memory segments of a wire as users of the transport see them: every operation, including the
// release of a segment, takes the network lock.

#include <mutex>
#include <utility>

#include "wire_transport.hpp"

namespace apgas::inline v0::comm {

namespace {

class guarded_segment final : public shared_segment {
 public:
  guarded_segment(base::spin_lock& lock, std::unique_ptr<shared_segment> made) noexcept
      : lock_(lock), made_(std::move(made)) {}
  ~guarded_segment() override {
    const std::scoped_lock guard(lock_);
    made_.reset();
  }

  std::span<std::byte> memory() noexcept override { return made_->memory(); }
  std::span<const std::byte> key() const noexcept override { return made_->key(); }

 private:
  base::spin_lock& lock_;
  std::unique_ptr<shared_segment> made_;
};

class guarded_attached final : public attached_segment {
 public:
  guarded_attached(base::spin_lock& lock, std::unique_ptr<attached_segment> made) noexcept
      : lock_(lock), made_(std::move(made)) {}
  ~guarded_attached() override {
    const std::scoped_lock guard(lock_);
    made_.reset();
  }

  std::byte* memory() noexcept override { return made_->memory(); }

 private:
  base::spin_lock& lock_;
  std::unique_ptr<attached_segment> made_;
};

}  // namespace

remote_memory* wire_transport::memory() noexcept {
  return wire_->memory() == nullptr ? nullptr : this;
}

std::unique_ptr<shared_segment> wire_transport::make_segment(std::size_t bytes) {
  std::unique_ptr<shared_segment> made;
  {
    const network_hold guard(*this);
    made = wire_->memory()->make_segment(bytes);
  }
  return std::make_unique<guarded_segment>(network_, std::move(made));
}

std::unique_ptr<attached_segment> wire_transport::attach(rank home,
                                                         std::span<const std::byte> key) {
  std::unique_ptr<attached_segment> made;
  {
    const network_hold guard(*this);
    made = wire_->memory()->attach(home, key);
  }
  if (made == nullptr) return nullptr;
  return std::make_unique<guarded_attached>(network_, std::move(made));
}

}  // namespace apgas::inline v0::comm
