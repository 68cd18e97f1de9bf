// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <apgas/base/assert.hpp>

#include "local_transport.hpp"
#include "mixing_transport.hpp"

namespace apgas::inline v0::comm {

// At most this many messages are delivered by one call of progress(), so that the lock is released
// now and then.
constexpr int most_at_once = 64;

void exchange_point::enter(rank from, std::uint64_t turn, std::span<const std::byte> record) {
  const std::scoped_lock guard(lock_);
  APGAS_ASSERT(entered_ / size_ == turn, "ranks enter exchanges in different orders");
  if (!record.empty()) {
    std::vector<std::byte>& all = records_[turn % 2];
    all.resize(record.size() * size_);
    std::ranges::copy(record, all.begin() + static_cast<std::ptrdiff_t>(record.size()) * from);
  }
  ++entered_;
}

bool exchange_point::complete(std::uint64_t turn) noexcept {
  const std::scoped_lock guard(lock_);
  return entered_ >= (turn + 1) * size_;
}

std::vector<std::byte> exchange_point::records(std::uint64_t turn) {
  const std::scoped_lock guard(lock_);
  return records_[turn % 2];
}

local_transport::local_transport(rank here, local_fabric& fabric, exchange_point& exchanges,
                                 local_fabric::abort_function end_process)
    : transport(here, fabric.size(), fabric.pool()),
      fabric_(fabric),
      exchanges_(exchanges),
      abort_(end_process) {}

void local_transport::post(rank dest, buffer message) noexcept {
  add_queued(dest, message.size());
  auto& to = static_cast<local_transport&>(fabric_.at(dest));
  to.inbox_.push(here(), std::move(message));
  to.wake();
}

bool local_transport::progress(message_sink& sink) noexcept {
  if (!progress_lock_.try_lock()) return false;
  int delivered = 0;
  if (end_.takes_messages()) {
    if (arrived_.empty() && inbox_.maybe_filled()) arrived_ = inbox_.take_all();
    for (; delivered < most_at_once && !arrived_.empty(); ++delivered) {
      const rank source = arrived_.front_peer();
      buffer message = arrived_.pop_front();
      static_cast<local_transport&>(fabric_.at(source)).sub_queued(here(), message.size());
      sink.on_message(source, std::move(message));
    }
  }
  progress_lock_.unlock();
  return delivered > 0;
}

void local_transport::begin_exchange(std::span<const std::byte> mine) {
  const std::scoped_lock guard(progress_lock_);
  end_.restart();
  exchanges_.enter(here(), turn_++, mine);
}

bool local_transport::exchange_done(std::vector<std::byte>& all) {
  const std::scoped_lock guard(progress_lock_);
  if (!exchanges_.complete(turn_ - 1)) return false;
  all = exchanges_.records(turn_ - 1);
  return true;
}

void local_transport::begin_barrier() {
  const std::scoped_lock guard(progress_lock_);
  end_.begin();
}

bool local_transport::barrier_done() {
  if (!progress_lock_.try_lock()) return false;
  const std::scoped_lock guard(std::adopt_lock, progress_lock_);
  const bool complete = exchanges_.complete(turn_ - 1);
  const shutdown_steps::view now{.collective_done = complete,
                                 .delivering = !arrived_.empty() || inbox_.maybe_filled()};
  if (end_.advance(now) != shutdown_steps::action::nothing) exchanges_.enter(here(), turn_++, {});
  return end_.over();
}

void local_transport::abort(int code) noexcept {
  if (abort_) abort_(code);
  std::_Exit(code);
}

struct local_fabric::shared {
  explicit shared(int size) : exchanges(size) {}

  buffer_pool pool;
  exchange_point exchanges;
  std::vector<std::unique_ptr<local_transport>> places;
};

local_fabric::local_fabric(int size, abort_function abort, base::choice_source* order)
    : shared_(std::make_unique<shared>(size)) {
  APGAS_ASSERT(size > 0);
  shared_->places.resize(static_cast<std::size_t>(size));
  for (rank r = 0; r < size; ++r) {
    std::unique_ptr<local_transport>& own = shared_->places[static_cast<std::size_t>(r)];
    if (order == nullptr) {
      own = std::make_unique<local_transport>(r, *this, shared_->exchanges, abort);
    } else {
      own = std::make_unique<mixing_transport>(r, *this, shared_->exchanges, abort, *order);
    }
  }
}

local_fabric::~local_fabric() = default;

int local_fabric::size() const noexcept { return static_cast<int>(shared_->places.size()); }

transport& local_fabric::at(rank place) noexcept {
  return *shared_->places[static_cast<std::size_t>(place)];
}

buffer_pool& local_fabric::pool() noexcept { return shared_->pool; }

}  // namespace apgas::inline v0::comm
