// SPDX-License-Identifier: Apache-2.0

// The common part of all transports: counts of bytes in flight, and waking the owner.

#include <apgas/comm/transport.hpp>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::comm {

transport::transport(rank here, int size, buffer_pool& pool)
    : here_(here),
      pool_(pool),
      lock_owner_(std::make_shared<base::lock_owner>()),
      peers_(std::make_shared<std::vector<base::cache_aligned<peer>>>(
          static_cast<std::size_t>(size))) {
  APGAS_ASSERT(0 <= here && here < size);
}

transport::transport(transport& inside)
    : here_(inside.here_),
      pool_(inside.pool_),
      lock_owner_(inside.lock_owner_),
      peers_(inside.peers_) {}

void transport::write(rank, const frame_header&, std::span<const std::byte>) noexcept {
  APGAS_UNREACHABLE("this transport writes no frames");
}

bool transport::add_task(rank, const frame_header&, std::span<const std::byte>,
                         base::atomic<std::uint64_t>&) noexcept {
  return false;
}

std::size_t transport::unsent_bytes() const noexcept {
  std::size_t sum = 0;
  for (rank r = 0; r < size(); ++r) sum += queued_bytes(r);
  return sum;
}

void transport::sub_queued(rank dest, std::size_t bytes) noexcept {
  const std::size_t before = queued_to(dest).fetch_sub(bytes, base::relaxed);
  APGAS_ASSERT(before >= bytes, "more messages completed than were posted");
}

void transport::set_wake(wake_function function, void* context) noexcept {
  wake_lock_.lock();
  wake_ = function;
  wake_context_ = context;
  wake_lock_.unlock();
}

void transport::wake() noexcept {
  wake_lock_.lock();
  // Called under the lock, so that after set_wake() has replaced the function, the object that it
  // wakes may be destroyed.
  if (wake_) wake_(wake_context_);
  wake_lock_.unlock();
}

std::uint64_t transport::attach() noexcept {
  APGAS_ASSERT(!attached(), "a transport serves one endpoint at a time");
  attached_.store(true, base::relaxed);
  return ++epoch_;
}

void transport::detach() noexcept {
  APGAS_ASSERT(attached());
  APGAS_ASSERT(unsent_bytes() == 0, "a run ended with messages in flight");
  attached_.store(false, base::release);  // P1 of transport.hpp
}

}  // namespace apgas::inline v0::comm
