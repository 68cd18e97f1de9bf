// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/parse.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

#include "delayed_transport.hpp"

namespace apgas::inline v0::comm {

// One message in this many is delayed; the others follow their predecessor immediately.
constexpr std::uint32_t one_of_waits = 4;

delayed_transport::delayed_transport(transport& inside, delay_options options)
    : transport(inside.here(), inside.size(), inside.pool()), inside_(inside), options_(options) {
  APGAS_ASSERT(options.longest.count() > 0);
  const auto from = static_cast<std::uint64_t>(here()) << 32U;
  for (rank r = 0; r < size(); ++r) {
    links_.emplace_back(options.seed ^ (from | static_cast<std::uint64_t>(r)));
  }
  inside_.attach();
  inside_.set_wake([](void* self) { static_cast<delayed_transport*>(self)->wake(); }, this);
}

delayed_transport::~delayed_transport() {
  inside_.set_wake(nullptr, nullptr);
  inside_.detach();
}

void delayed_transport::post(rank dest, buffer message) noexcept {
  add_queued(dest, message.size());
  posted_.push(dest, std::move(message));
}

void delayed_transport::draw_release_time(link& on, clock::time_point now) noexcept {
  on.release_time = now;
  if (on.random.below(one_of_waits) != 0) return;
  on.release_time += std::chrono::microseconds(
      1 + on.random.below(static_cast<std::uint32_t>(options_.longest.count())));
}

// Passes the messages whose time has come to the inner transport. Returns true if there were any.
// Requires: progress_lock_.
bool delayed_transport::hand_over() noexcept {
  if (waiting_ == 0 && !posted_.maybe_filled()) return false;
  const clock::time_point now = clock::now();
  for (message_chain fresh = posted_.take_all(); !fresh.empty(); ++waiting_) {
    const rank dest = fresh.front_peer();
    link& on = to(dest);
    if (on.waiting.empty()) draw_release_time(on, now);
    on.waiting.push_back(dest, fresh.pop_front());
  }
  bool any = false;
  for (rank dest = 0; dest < size(); ++dest) {
    link& on = to(dest);
    while (!on.waiting.empty() && on.release_time <= now) {
      buffer message = on.waiting.pop_front();
      on.handed_over += message.size();
      inside_.post(dest, std::move(message));
      --waiting_;
      any = true;
      if (!on.waiting.empty()) draw_release_time(on, now);
    }
  }
  if (any) inside_.push();
  return any;
}

// Requires: progress_lock_.
void delayed_transport::notice_completions() noexcept {
  for (rank dest = 0; dest < size(); ++dest) {
    link& on = to(dest);
    const std::size_t left = inside_.queued_bytes(dest);
    APGAS_ASSERT(left <= on.handed_over, "another user posts to the inner transport");
    if (left != on.handed_over) sub_queued(dest, on.handed_over - left);
    on.handed_over = left;
  }
}

bool delayed_transport::progress(message_sink& sink) noexcept {
  if (!progress_lock_.try_lock()) return false;
  bool worked = hand_over();
  worked |= inside_.progress(sink);
  notice_completions();
  progress_lock_.unlock();
  return worked;
}

void delayed_transport::begin_barrier() {
  const std::scoped_lock guard(progress_lock_);
  end_asked_ = true;
}

bool delayed_transport::barrier_done() {
  if (!progress_lock_.try_lock()) return false;
  const std::scoped_lock guard(std::adopt_lock, progress_lock_);
  if (end_asked_) {
    hand_over();
    if (waiting_ != 0) return false;
    inside_.begin_barrier();
    end_asked_ = false;
  }
  if (!inside_.barrier_done()) return false;
  notice_completions();
  return true;
}

void delayed_transport::abort(int code) noexcept {
  inside_.abort(code);
  std::_Exit(code);
}

namespace {

// The value of an environment variable, or nothing if it is not set.
std::optional<long> number_of_test(const char* name, long least, long most) {
  const char* const set = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start
  if (set == nullptr) return std::nullopt;
  const auto number = base::parse_integer(set, least, most);
  if (number) return number;
  throw launch_error(
      fmt::format("{}={}: expected a whole number from {} to {}", name, set, least, most));
}

// Returns the value of rank 0 at all ranks.
std::uint64_t agree_on_seed(transport& network, std::uint64_t mine) {
  network.begin_exchange(std::as_bytes(std::span(&mine, 1)));
  std::vector<std::byte> all;
  while (!network.exchange_done(all)) std::this_thread::yield();
  std::memcpy(&mine, all.data(), sizeof mine);
  return mine;
}

}  // namespace

std::unique_ptr<transport> delayed_for_tests(transport& network) {
  constexpr long second = 1'000'000;
  const auto longest = number_of_test("APGAS_TEST_DELAY", 1, second);
  if (!longest) return nullptr;
  const auto given = number_of_test("APGAS_TEST_DELAY_SEED", 0, std::numeric_limits<long>::max());
  const std::uint64_t seed =
      agree_on_seed(network, given ? static_cast<std::uint64_t>(*given) : std::random_device{}());
  if (network.here() == 0) {
    base::print_line(fmt::format("messages are delayed by up to {} us, APGAS_TEST_DELAY_SEED={}",
                                 *longest, seed));
  }
  const delay_options options{.longest = std::chrono::microseconds(*longest), .seed = seed};
  return std::make_unique<delayed_transport>(network, options);
}

}  // namespace apgas::inline v0::comm
