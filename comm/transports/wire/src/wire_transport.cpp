// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/comm/out_of_memory.hpp>
#include <apgas/comm/transports.hpp>

#include "wire_transport.hpp"

namespace apgas::inline v0::comm {

// At most this many messages are delivered by one call of progress(), so that the lock is released
// now and then.
constexpr int most_deliveries = 64;

wire_transport::wire_transport(const mpi_channels& channels, buffer_pool& pool,
                               std::unique_ptr<wire> made)
    : transport(channels.here, channels.size, pool), channels_(channels), wire_(std::move(made)) {}

void wire_transport::post(rank dest, buffer message) noexcept {
  add_queued(dest, message.size());
  if (dest == here()) {
    to_self_.push(dest, std::move(message));
    wake();
  } else {
    posted_.push(dest, std::move(message));
  }
}

void wire_transport::push() noexcept {
  base::full_fence();  // P1
  if (!posted_.maybe_filled() || !network_.try_lock()) return;
  submit_posted();
  leave_network();
}

// Messages posted earlier, including those to the same rank, are either still in posted_ or
// submitted, because the network lock is held while they move from one to the other. So the order
// is kept.
void wire_transport::send(rank dest, buffer message) noexcept {
  if (dest == here() || posted_.maybe_filled() || !network_.try_lock()) {
    post(dest, std::move(message));
    push();
    return;
  }
  add_queued(dest, message.size());
  if (posted_.maybe_filled()) submit_posted();
  submit(dest, std::move(message));
  leave_network();
}

void wire_transport::leave_network() noexcept {
  do {
    network_.unlock();
    base::full_fence();  // P1
    if (!posted_.maybe_filled() || !network_.try_lock()) return;
    submit_posted();
  } while (true);
}

void wire_transport::submit_posted() {
  message_chain all = posted_.take_all();
  while (!all.empty()) {
    const rank dest = all.front_peer();
    submit(dest, all.pop_front());
  }
}

void wire_transport::submit(rank dest, buffer message) noexcept {
  const std::size_t bytes = message.size();
  or_end_job(bytes, {"to", dest, host_of_rank(dest)},
             [&] { wire_->submit(dest, std::move(message)); });
}

bool wire_transport::work_network() {
  if (!network_.try_lock()) return false;
  if (posted_.maybe_filled()) submit_posted();
  bool worked = false;
  if (end_.takes_messages()) worked = wire_->receive(arrived_);
  wire_->complete(finished_);
  for (const sent_message& each : finished_) sub_queued(each.dest, each.bytes);
  worked |= !finished_.empty();
  finished_.clear();
  leave_network();
  return worked;
}

int wire_transport::deliver(message_chain& from, message_sink& sink) {
  int delivered = 0;
  for (; delivered < most_deliveries && !from.empty(); ++delivered) {
    const rank source = from.front_peer();
    buffer message = from.pop_front();
    if (source == here()) sub_queued(source, message.size());
    sink.on_message(source, std::move(message));
  }
  return delivered;
}

bool wire_transport::progress(message_sink& sink) noexcept {
  if (!progress_lock_.try_lock()) return false;
  bool worked = false;
  // Messages left over from the last call are delivered first, and no more are received until they
  // are gone.
  if (arrived_.empty()) {
    try {
      worked = work_network();
    } catch (const std::bad_alloc&) {  // not attributable to one message
      network_failed();
    }
  }
  if (self_arrived_.empty() && to_self_.maybe_filled()) self_arrived_ = to_self_.take_all();
  worked |= deliver(self_arrived_, sink) > 0;
  worked |= deliver(arrived_, sink) > 0;
  progress_lock_.unlock();
  return worked;
}

// Also looks for messages that were sent or posted without progress_lock_, since this is the last
// check before the poller sleeps.
bool wire_transport::arm() noexcept {
  if (!progress_lock_.try_lock()) return false;
  bool armed = arrived_.empty() && self_arrived_.empty() && network_.try_lock();
  if (armed) {
    armed = wire_->arm();
    leave_network();
  }
  progress_lock_.unlock();
  return armed && !to_self_.maybe_filled();
}

void wire_transport::begin_exchange(std::span<const std::byte> mine) {
  const std::scoped_lock guard(network_);
  APGAS_ASSERT(collective_ == MPI_REQUEST_NULL);
  end_.restart();
  record_.assign(mine.begin(), mine.end());
  records_.resize(mine.size() * static_cast<std::size_t>(size()));
  const auto bytes = static_cast<int>(mine.size());
  mpi_check(MPI_Iallgather(record_.data(), bytes, MPI_BYTE, records_.data(), bytes, MPI_BYTE,
                           channels_.bulk, &collective_),
            "MPI_Iallgather");
}

bool wire_transport::exchange_done(std::vector<std::byte>& all) {
  const std::scoped_lock guard(network_);
  int complete = 0;
  mpi_check(MPI_Test(&collective_, &complete, MPI_STATUS_IGNORE), "MPI_Test of the exchange");
  if (complete) all = std::exchange(records_, {});
  return complete != 0;
}

void wire_transport::begin_barrier() {
  const std::scoped_lock guard(network_);
  end_.begin();
}

bool wire_transport::barrier_done() {
  if (!progress_lock_.try_lock()) return false;
  const std::scoped_lock progress_guard(std::adopt_lock, progress_lock_);
  if (!network_.try_lock()) return false;
  const std::scoped_lock network_guard(std::adopt_lock, network_);
  take_end_step();
  return end_.over();
}

void wire_transport::take_end_step() {
  shutdown_steps::view now{
      .sending = posted_.maybe_filled() || unsent_bytes() != 0 || wire_->sending(),
      .received = wire_->received(),
      .delivering = wire_->receiving() || !arrived_.empty()};
  int complete = 0;
  if (collective_ != MPI_REQUEST_NULL) {
    mpi_check(MPI_Test(&collective_, &complete, MPI_STATUS_IGNORE), "MPI_Test of the end");
  }
  now.collective_done = complete != 0;
  now.expected = expected_;
  switch (end_.advance(now)) {
    case shutdown_steps::action::nothing:
      if (end_.over()) wire_->reset_counts();
      break;
    case shutdown_steps::action::begin_counts:
      sent_ = wire_->sent();
      mpi_check(MPI_Ireduce_scatter_block(sent_.data(), &expected_, 1, MPI_UINT64_T, MPI_SUM,
                                          channels_.bulk, &collective_),
                "MPI_Ireduce_scatter_block");
      break;
    case shutdown_steps::action::begin_rendezvous:
      mpi_check(MPI_Ibarrier(channels_.bulk, &collective_), "MPI_Ibarrier");
      break;
  }
}

void wire_transport::abort(int code) noexcept {
  base::exit_reason_printed(code);
  // This thread may hold the lock itself, if an MPI call failed, so it does not wait for ever.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
  while (!network_.try_lock() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  // MPI_Abort may wait for a process that does not answer. The launcher ends the job when this
  // process has ended.
  constexpr auto patience = std::chrono::seconds{2};
  try {
    if (mpi_running()) {
      std::thread([code] { MPI_Abort(MPI_COMM_WORLD, code); }).detach();
      std::this_thread::sleep_for(patience);
    }
  } catch (const std::exception&) {
    std::_Exit(code);  // no thread could be started, or there was no memory for it
  }
  std::_Exit(code);
}

void wire_transport::close() {
  const std::scoped_lock guard(network_);
  wire_->close();
}

}  // namespace apgas::inline v0::comm
