// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <sys/epoll.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/cpu_relax.hpp>

#include "shm_transport.hpp"

namespace apgas::inline v0::comm {

namespace {

// Returns a descriptor that is readable when `a` or `b` is; -1 if there is none.
int either_of(int a, int b) {
  const int both = epoll_create1(EPOLL_CLOEXEC);
  for (const int each : {a, b}) {
    epoll_event readable{.events = EPOLLIN, .data = {}};
    if (both >= 0 && epoll_ctl(both, EPOLL_CTL_ADD, each, &readable) != 0) {
      close(both);
      return -1;
    }
  }
  return both;
}

}  // namespace

shm_transport::shm_transport(transport& inside, std::unique_ptr<own_segment> segment,
                             shm_peers peers)
    : transport(inside),
      inside_(inside),
      name_(peers.all_by_rings ? std::string("shm") : "shm+" + std::string(inside.name())),
      segment_(std::move(segment)),
      all_by_rings_(peers.all_by_rings),
      all_mapped_(peers.all_mapped),
      senders_(static_cast<std::size_t>(size())),
      areas_(static_cast<std::size_t>(size())) {
  const std::size_t places = peers.of_host.size();
  seen_.resize((places + 63) / 64);
  sources_.reserve(places);
  for (std::size_t i = 0; i < places; ++i) {
    const rank other = peers.of_host[i];
    if (segment_->offer().process != 0) {
      receivers_.push_back(
          std::make_unique<ring_receiver>(segment_->memory(), other, i, places, pool()));
    }
    if (!peers.segments[i]) continue;
    if (peers.all_mapped) {
      areas_[static_cast<std::size_t>(other)] = peers.segments[i].shared_area();
    }
    auto& sender = senders_[static_cast<std::size_t>(other)];
    sender =
        std::make_unique<ring_sender>(std::move(peers.segments[i]), other, peers.own_index, places,
                                      pool(), *lock_owner(), queued_to(other), unfinished_senders_);
    ring_senders_.push_back(sender.get());
  }
  if (!all_by_rings_ && inside_.descriptor() >= 0 && segment_->descriptor() >= 0) {
    both_ = either_of(segment_->descriptor(), inside_.descriptor());
  }
}

shm_transport::~shm_transport() {
  if (both_ >= 0) close(both_);
}

int shm_transport::descriptor() const noexcept {
  return all_by_rings_ ? segment_->descriptor() : both_;
}

// The inner transport wakes the owner for messages of this rank to itself.
void shm_transport::set_wake(wake_function function, void* context) noexcept {
  transport::set_wake(function, context);
  inside_.set_wake(function, context);
}

void shm_transport::post(rank dest, buffer message) noexcept {
  if (ring_sender* const sender = sender_to(dest)) {
    sender->post(std::move(message));
  } else {
    inside_.post(dest, std::move(message));
  }
}

void shm_transport::push() noexcept {
  advance();
  inside_.push();
}

void shm_transport::send(rank dest, buffer message) noexcept {
  if (ring_sender* const sender = sender_to(dest)) {
    sender->send(std::move(message), run());
  } else {
    inside_.send(dest, std::move(message));
  }
}

void shm_transport::write(rank dest, const frame_header& header,
                          std::span<const std::byte> payload) noexcept {
  sender_to(dest)->write(header, payload, run());
}

bool shm_transport::add_task(rank dest, const frame_header& header,
                             std::span<const std::byte> payload,
                             base::atomic<std::uint64_t>& bytes) noexcept {
  return sender_to(dest)->add_task(header, payload, run(), bytes);
}

frame_counts shm_transport::written(rank dest) noexcept {
  ring_sender* const sender = sender_to(dest);
  return sender == nullptr ? frame_counts{} : sender->written(run());
}

bool shm_transport::advance() noexcept {
  if (unfinished_senders_.load(base::relaxed) == 0) return false;
  bool any = false;
  for (ring_sender* const each : ring_senders_) any |= each->advance(run());
  return any;
}

// Looks for places of the host that have begun to send.
inline void shm_transport::note_new_sources() noexcept {
  if (receivers_.empty()) return;
  const auto& senders = segment_->memory().header().senders;
  for (std::size_t word = 0; word < seen_.size(); ++word) {
    const std::uint64_t now = senders[word].load(base::relaxed);
    if ((now & ~seen_[word]) != 0) [[unlikely]]
      add_sources(word, now);
  }
}

[[gnu::cold]] void shm_transport::add_sources(std::size_t word, std::uint64_t senders) noexcept {
  std::uint64_t added = senders & ~seen_[word];
  seen_[word] |= added;
  for (; added != 0; added &= added - 1) {
    const std::size_t index = word * 64 + static_cast<std::size_t>(std::countr_zero(added));
    if (index < receivers_.size()) sources_.push_back(receivers_[index].get());
  }
}

bool shm_transport::receive(message_sink& sink) noexcept {
  note_new_sources();
  bool any = false;
  for (ring_receiver* const from : sources_) any |= from->receive(sink, run(), latest_run_);
  return any;
}

// Returns the first ring that has records; null if there is none.
ring_receiver* shm_transport::first_filled() noexcept {
  note_new_sources();
  const auto found =
      std::ranges::find_if(sources_, [](ring_receiver* from) { return from->filled(); });
  return found == sources_.end() ? nullptr : *found;
}

// Looks at the rings in turn until one has records, but only about `looks` times in all.
ring_receiver* shm_transport::filled_within(unsigned looks) noexcept {
  while (looks > 0) {
    if (ring_receiver* const from = first_filled()) return from;
    base::cpu_relax();  // leaves the execution units to a place on the other thread of this core
    const auto looked = static_cast<unsigned>(sources_.size() + 1);
    looks -= std::min(looks, looked);
  }
  return nullptr;
}

bool shm_transport::progress_watching(message_sink& sink, unsigned looks) noexcept {
  if (!progress_lock_.try_lock()) return false;
  bool worked = advance();
  bool received = receive(sink);
  if (!received && !worked) {
    // The others are looked at in the next poll.
    ring_receiver* const from = filled_within(looks);
    received = from != nullptr && from->take(sink, run(), latest_run_);
  }
  if (received) {
    worked = true;
    advance();  // the answers
  }
  const bool waited_for = received && looks != 0;
  if (!all_by_rings_ && (!waited_for || ++delivered_ % deliveries_before_inside == 0)) {
    worked |= inside_.progress(sink);
  }
  progress_lock_.unlock();
  return worked;
}

// The announcement stays until a sender takes it, even if this place does not sleep after all or
// has been woken otherwise: another thread may call progress() while one sleeps. That costs one
// write to the pipe.
bool shm_transport::arm() noexcept {
  if (!progress_lock_.try_lock()) return false;
  if (!receivers_.empty()) {
    segment_->empty_pipe();
    segment_->memory().header().sleeping.announce();
  }
  const bool armed = first_filled() == nullptr && (all_by_rings_ || inside_.arm());
  progress_lock_.unlock();
  return armed;
}

void shm_transport::begin_barrier() {
  const std::scoped_lock guard(progress_lock_);
  end_asked_ = true;
  latest_run_ = run() + 1;
}

bool shm_transport::barrier_done() {
  if (!progress_lock_.try_lock()) return false;
  const std::scoped_lock guard(std::adopt_lock, progress_lock_);
  if (end_asked_) {
    advance();
    if (!std::ranges::all_of(ring_senders_, [](ring_sender* each) { return each->drained(); })) {
      return false;
    }
    inside_.begin_barrier();
    end_asked_ = false;
  }
  return inside_.barrier_done();
}

void shm_transport::abort(int code) noexcept {
  inside_.abort(code);
  std::_Exit(code);
}

}  // namespace apgas::inline v0::comm
