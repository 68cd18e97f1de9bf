// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>

#include "turns.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::chrono::nanoseconds time_per_turn{1'000};
constexpr auto never = turns::time::max();

// Time jumps to the next timer in one of so many turns, although a thread is ready.
constexpr std::uint32_t early_timers = 64;

// Some seeds switch between threads at nearly every point, others rarely: a schedule with few
// switches finds errors that need one task to be delayed for long.
constexpr std::uint32_t granularities[] = {1, 1, 2, 4, 16};

}  // namespace

turns::turns(std::uint64_t seed, int places)
    : seed_(seed),
      random_(seed),
      fingerprint_(seed),
      places_(static_cast<std::size_t>(places)),
      workers_(static_cast<std::size_t>(places)) {
  continues_ = granularities[random_.below(std::size(granularities))];
  monitor_ = std::thread([this] { monitor(); });
}

turns::~turns() {
  end();
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  monitor_wake_.notify_all();
  monitor_.join();
}

std::string turns::description() const {
  const std::lock_guard guard(mutex_);
  std::string text =
      fmt::format("schedule fingerprint {:016x} of APGAS_SEED={}: {} decisions, {} turns",
                  fingerprint_, seed_, decisions_, turns_taken_);
  if (deviation_ != nullptr)
    text += fmt::format("; the seed may not reproduce it, because {}", deviation_);
  return text;
}

void turns::add_place(int number, int workers, place& of) {
  const std::lock_guard guard(mutex_);
  places_[static_cast<std::size_t>(number)] = &of;
  auto& own = workers_[static_cast<std::size_t>(number)];
  for (int i = 0; i < workers; ++i) own.push_back(std::make_unique<participant>());
}

void turns::remove_place(int number) noexcept {
  std::unique_lock lock(mutex_);
  monitor_looked_.wait(lock, [this] { return !monitor_looks_; });
  places_[static_cast<std::size_t>(number)] = nullptr;
}

void turns::explain_with(int number, explain_function f) noexcept {
  const std::lock_guard guard(mutex_);
  places_[static_cast<std::size_t>(number)]->explain_with(std::move(f));
}

turns::participant& turns::worker(int number, int id) noexcept {
  const std::lock_guard guard(mutex_);
  return *workers_[static_cast<std::size_t>(number)][static_cast<std::size_t>(id)];
}

void turns::place_is_ready() noexcept {
  participant* next = nullptr;
  {
    const std::lock_guard guard(mutex_);
    ++places_ready_;
    next = begin_if_complete();
  }
  if (next != nullptr) next->turn.unpark();
}

// Begins the first turn if all places are ready and all workers wait for it.
turns::participant* turns::begin_if_complete() noexcept {
  if (begun_ || ended() || places_ready_ < places_.size()) return nullptr;
  for (const auto& of_place : workers_) {
    for (const auto& p : of_place) {
      if (p->now != state::ready) return nullptr;
    }
  }
  for (const auto& of_place : workers_) {
    for (const auto& p : of_place) everyone_.push_back(p.get());
  }
  begun_ = true;
  return dispatch();
}

// Requires: mutex_, as for all functions below that draw or dispatch.
std::uint32_t turns::draw(std::uint32_t bound) noexcept {
  const std::uint32_t drawn = random_.below(bound);
  note(std::uint64_t{bound} << 32U | drawn);
  return drawn;
}

void turns::note(std::uint64_t decision) noexcept {
  fingerprint_ = std::rotl((fingerprint_ ^ decision) * 0x9e3779b97f4a7c15, 29);
  ++decisions_;
}

bool turns::is_ready(const participant& p) const noexcept {
  if (p.now == state::asleep) {
    return p.token->has_token() ||
           p.until <= begun_at_ + std::chrono::nanoseconds(time_.load(base::relaxed));
  }
  return p.now == state::ready;
}

void turns::pass_time(std::chrono::nanoseconds by) noexcept {
  time_.store(time_.load(base::relaxed) + by.count(), base::relaxed);
}

void turns::jump_to(time to) noexcept {
  const std::int64_t at = std::chrono::nanoseconds(to - begun_at_).count();
  time_.store(std::max(time_.load(base::relaxed), at), base::relaxed);
}

turns::time turns::next_timer() const noexcept {
  time next = never;
  for (const place* p : places_) {
    if (p != nullptr) next = std::min(next, p->next_timer());
  }
  return next;
}

// Chooses the participant that has the next turn; null if none is ready, now or at a later time.
// Requires: no participant is running.
turns::participant* turns::dispatch() noexcept {
  if (!begun_ || ended()) return nullptr;
  pass_time(time_per_turn);
  if (const time next = next_timer(); next != never && draw(early_timers) == 0) jump_to(next);
  const auto ready = [this](const participant* p) { return is_ready(*p); };
  auto n = std::ranges::count_if(everyone_, ready);
  if (n == 0) {
    time next = never;
    for (const participant* p : everyone_) {
      if (p->now == state::asleep) next = std::min(next, p->until);
    }
    if (next == never) {
      monitor_wake_.notify_one();  // this may be a deadlock
      return nullptr;
    }
    jump_to(next);
    n = std::ranges::count_if(everyone_, ready);
  }
  auto chosen = n == 1 ? 0 : draw(static_cast<std::uint32_t>(n));
  for (std::size_t i = 0; i < everyone_.size(); ++i) {
    participant& p = *everyone_[i];
    if (!is_ready(p) || chosen-- != 0) continue;
    note(i);
    ++turns_taken_;
    p.now = state::running;
    running_ = &p;
    return &p;
  }
  APGAS_UNREACHABLE("a ready participant vanished while the lock was held");
}

void turns::pass(participant& self) noexcept {
  std::unique_lock lock(mutex_);
  if (ended()) return;
  participant* next = nullptr;
  if (self.now == state::running) {
    if (continues_ != 1 && draw(continues_) != 0) {
      ++turns_taken_;
      pass_time(time_per_turn);
      return;
    }
    self.now = state::ready;
    running_ = nullptr;
    next = dispatch();
  } else {  // it joins, or comes back from being astray
    arrive(self);
    next = begun_ ? (running_ == nullptr ? dispatch() : nullptr) : begin_if_complete();
  }
  lock.unlock();
  hand_over(self, next);
}

// Notes which thread this is, and makes it ready.
void turns::arrive(participant& self) noexcept {
  self.id = pthread_self();
  self.thread = gettid();
  self.now = state::ready;
}

// Wakes the participant that has the next turn, and waits until `self` has it.
void turns::hand_over(participant& self, participant* next) noexcept {
  if (next == &self) return;
  if (next != nullptr) next->turn.unpark();
  static_cast<void>(self.turn.park(std::chrono::nanoseconds::max()));
}

bool turns::sleep(participant& self, parker& token, time until) noexcept {
  std::unique_lock lock(mutex_);
  if (ended()) return token.take_token();
  if (self.now == state::running) running_ = nullptr;
  self.token = &token;
  self.until = until;
  self.now = state::asleep;
  participant* const next = running_ == nullptr ? dispatch() : nullptr;
  lock.unlock();
  hand_over(self, next);
  return token.take_token();
}

turns::participant& turns::add_call() {
  const std::lock_guard guard(mutex_);
  auto at = std::ranges::find_if(calls_, [](const auto& p) { return p->now == state::gone; });
  if (at == calls_.end()) {
    calls_.push_back(std::make_unique<participant>());
    everyone_.push_back(calls_.back().get());
    at = calls_.end() - 1;
    (*at)->is_call = true;
  }
  (*at)->thread = 0;
  (*at)->now = state::ready;
  return **at;
}

void turns::await_turn(participant& self) noexcept {
  participant* next = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (ended()) return;
    self.id = pthread_self();
    self.thread = gettid();
    if (running_ == nullptr) next = dispatch();
  }
  if (next != nullptr) next->turn.unpark();
  static_cast<void>(self.turn.park(std::chrono::nanoseconds::max()));
}

void turns::leave(participant& self) noexcept {
  participant* next = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (ended()) return;
    if (self.now == state::running) running_ = nullptr;
    self.now = state::gone;
    if (running_ == nullptr) next = dispatch();
  }
  if (next != nullptr) next->turn.unpark();
}

bool turns::has_turn() const noexcept {
  return running_ != nullptr && pthread_equal(running_->id, pthread_self()) != 0;
}

std::uint32_t turns::below(std::uint32_t bound) noexcept {
  const std::lock_guard guard(mutex_);
  return bound > 1 && has_turn() && !ended() ? draw(bound) : 0;
}

turns::time turns::now() const noexcept {
  const auto since = std::chrono::nanoseconds(time_.load(base::relaxed));
  if (ended()) return begun_at_ + since + (clock::now() - ended_at_);
  return begun_at_ + since;
}

turns::time turns::read_time() noexcept {
  time_.fetch_add(1, base::relaxed);
  return now();
}

void turns::end() noexcept {
  const std::lock_guard guard(mutex_);
  if (ended()) return;
  ended_at_ = clock::now();
  ended_.store(true, base::release);  // P1
  for (const auto& of_place : workers_) {
    for (const auto& p : of_place) p->turn.unpark();
  }
  for (const auto& p : calls_) p->turn.unpark();
}

void turns::woken() noexcept {
  participant* next = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (!begun_ || ended() || has_turn()) return;
    deviate("another thread made a task ready");
    if (running_ == nullptr) next = dispatch();
  }
  if (next != nullptr) next->turn.unpark();
}

void turns::note_ready() noexcept {
  const std::lock_guard guard(mutex_);
  if (begun_ && !ended() && !has_turn()) deviate("another thread made a task ready");
}

void turns::deviate(const char* why) noexcept {
  if (deviation_ == nullptr) deviation_ = why;
}

}  // namespace apgas::inline v0::scheduler
