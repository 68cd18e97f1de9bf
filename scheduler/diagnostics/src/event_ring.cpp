// SPDX-License-Identifier: Apache-2.0
#include <new>

#include <sys/mman.h>

#include "event_ring.hpp"

namespace apgas::inline v0::scheduler {

event_ring::event_ring(std::size_t bytes) : per_chunk_(bytes / chunks / sizeof(std::uint64_t)) {
  void* const at = mmap(nullptr, chunks * per_chunk_ * sizeof(std::uint64_t),
                        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  words_ = static_cast<std::uint64_t*>(at);
  at_ = end_ = words_ + chunks * per_chunk_;
}

event_ring::~event_ring() { munmap(words_, chunks * per_chunk_ * sizeof(std::uint64_t)); }

void event_ring::forget() noexcept {
  for (auto& used : used_) used.store(0, base::relaxed);
  madvise(words_, chunks * per_chunk_ * sizeof(std::uint64_t), MADV_DONTNEED);
}

void event_ring::next_chunk() noexcept {
  events_in_[current_] = events_;
  current_ = (current_ + 1) % chunks;
  if (current_ == oldest_.load(base::relaxed)) {
    dropped_.store(dropped_.load(base::relaxed) + events_in_[current_], base::relaxed);
    oldest_.store((current_ + 1) % chunks, base::relaxed);
  }
  used_[current_].store(0, base::relaxed);
  events_ = 0;
  at_ = begin_of(current_);
  end_ = at_ + per_chunk_;
}

std::size_t event_ring::spans(std::span<const std::uint64_t> (&out)[chunks]) const noexcept {
  const std::size_t first = oldest_.load(base::relaxed);
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t c = (first + i) % chunks;
    const std::size_t used = used_[c].load(base::acquire);  // P1 of event_ring.hpp
    if (used != 0) out[n++] = {begin_of(c), used};
  }
  return n;
}

}  // namespace apgas::inline v0::scheduler
