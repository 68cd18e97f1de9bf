// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <utility>

#include <apgas/scheduler/trace_recorder.hpp>

#include "trace_lane.hpp"

// Beginning and ending recordings, and what they have recorded.
namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t bytes_of_others = std::size_t{4} << 20;

std::uint64_t clock_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

struct moment {
  std::uint64_t cycles;
  std::uint64_t ns;
};

// Reads both clocks. If the thread loses its processor between the readings, they do not belong
// together, so of several pairs it takes the one that took the least time. An error of 0.5 us would
// suffice for the body of an `at` to seem to begin before the call.
moment read_clocks() noexcept {
  constexpr int readings = 16;
  moment best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t before = base::cycles();
    const std::uint64_t ns = clock_ns();
    const std::uint64_t took = base::cycles() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns};
  }
  return best;
}

}  // namespace

void trace_recorder::begin() {
  const lanes* const before = lanes_.load(base::relaxed);
  auto made = std::make_unique<lanes>();
  for (std::uint32_t i = 0; i < header_.threads; ++i) {
    const bool is_worker = i + 1 < header_.threads;
    made->push_back(std::make_unique<lane>(
        is_worker ? options_.bytes_of_worker : std::min(options_.bytes_of_worker, bytes_of_others),
        i));
    if (before == nullptr) continue;
    const lane& old = *(*before)[i];  // where a thread may number one more event
    made->back()->flows += old.flows + 1;
    made->back()->waits += old.waits + 1;
  }
  forget();
  all_lanes_.push_back(std::move(made));
  const moment now = read_clocks();
  header_.start_cycles = now.cycles;
  header_.start_ns = now.ns;
  lanes_.store(all_lanes_.back().get(), base::release);  // P4 of trace_recorder.hpp
  recording_.store(true, base::release);                 // P1 of trace_recorder.hpp
}

void trace_recorder::forget() noexcept {
  if (all_lanes_.empty()) return;
  for (const auto& each : *all_lanes_.back()) each->ring.forget();
}

void trace_recorder::stop() noexcept {
  const moment now = read_clocks();
  header_.end_cycles = now.cycles;
  header_.end_ns = now.ns;
  recording_.store(false, base::release);  // P1 of trace_recorder.hpp
}

void trace_recorder::for_each_piece(bool complete, void (*take)(void*, std::span<const std::byte>),
                                    void* context) noexcept {
  const std::span<const std::byte> text = texts_->table.bytes();
  trace::header head = header_;
  head.complete = complete ? 1 : 0;
  head.text_bytes = text.size();
  head.missing_texts = texts_->table.missing();
  take(context, std::as_bytes(std::span(&head, 1)));
  take(context, text);
  static constexpr std::byte padding[8] = {};
  take(context, std::span(padding).first((8 - text.size() % 8) % 8));
  for (const auto& each : *lanes_.load(base::acquire)) {  // P4 of trace_recorder.hpp
    std::span<const std::uint64_t> chunks[event_ring::chunks];
    const std::size_t n = each->ring.spans(chunks);
    trace::thread_header of{.dropped = each->ring.dropped()};
    for (std::size_t i = 0; i < n; ++i) of.words += chunks[i].size();
    take(context, std::as_bytes(std::span(&of, 1)));
    for (std::size_t i = 0; i < n; ++i) take(context, std::as_bytes(chunks[i]));
  }
}

std::vector<std::byte> trace_recorder::bytes(bool complete) {
  std::vector<std::byte> all;
  for_each_piece(
      complete,
      [](void* to, std::span<const std::byte> more) {
        auto& out = *static_cast<std::vector<std::byte>*>(to);
        out.insert(out.end(), more.begin(), more.end());
      },
      &all);
  return all;
}

}  // namespace apgas::inline v0::scheduler
