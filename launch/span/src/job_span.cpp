// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>

#include "job_span.hpp"

namespace apgas::inline v0::launch {
namespace {

[[gnu::noinline]] std::uint64_t steady_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

scheduler::task_observer& job_span::start(int workers, bool shares_run,
                                          std::uint64_t (*clock)() noexcept) {
  scheduler::span_profile_config c{.place = place_.here,
                                   .places = place_.places,
                                   .workers = workers,
                                   .file = settings_.profile_file,
                                   .shares_run = shares_run};
  if (place_.places > 1 || clock != nullptr) {
    c.clock = clock != nullptr ? clock : &steady_ns;
    c.nanoseconds = true;
  }
  profile_ = std::make_unique<scheduler::span_profile>(c);
  return profile_->observer();
}

void job_span::end() {
  if (place_.here != 0) {
    const std::vector<std::uint64_t> words = profile_->part();
    place_.endpoint->send(0, {.kind = comm::frame_kind::control, .handler = control_span_part},
                          std::as_bytes(std::span(words)));
    return;
  }
  while (parts_ != place_.places - 1) {
    if (!place_.endpoint->progress()) std::this_thread::yield();
  }
  profile_->report();
}

void job_span::on_part(const comm::inbound_frame& frame) {
  std::vector<std::uint64_t> words(frame.payload.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), frame.payload.data(), words.size() * sizeof(std::uint64_t));
  if (place_.here != 0 || !profile_->add_part(words)) {
    base::fatal(fmt::format("place {} sent a malformed part of the profile of work and span",
                            frame.source));
  }
  ++parts_;
}

}  // namespace apgas::inline v0::launch
