// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/trail.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <ctime>

#include <unistd.h>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/cycles.hpp>
#include <apgas/scheduler/worker.hpp>

#include "readable.hpp"

namespace apgas::inline v0::scheduler {

// Outside of the unnamed namespace, since trail::event has it and other files declare that.
enum class trail_event : std::uint64_t {
  begins,
  ends,
  described,
  suspends,
  resumes,
  phase_ends,
  sleeps,
  wakes,
  steals,
  receives,
};

namespace {

constexpr std::size_t name_bytes = 16;

std::uint64_t nanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

struct trail::event {
  trail_event what = trail_event::begins;
  std::uint64_t time = 0;  // in cycles
  std::uint64_t task = 0;  // observed_task::id; 0: unknown
  std::source_location site{};
  call_site where{};  // of the call that waits
  const char* construct = nullptr;
  char name[name_bytes] = {};  // the beginning of the name of the task; or another detail

  void set_name(const char* text) noexcept {
    if (text != nullptr) std::memcpy(name, text, strnlen(text, name_bytes - 1));
  }
  void set_detail(std::uint64_t detail) noexcept { std::memcpy(name, &detail, sizeof detail); }
  std::uint64_t detail() const noexcept {
    std::uint64_t detail = 0;
    std::memcpy(&detail, name, sizeof detail);
    return detail;
  }
};

// Words, since a reader may come while the owner overwrites an event.
struct alignas(base::cache_line_bytes) trail::ring {
  static constexpr std::size_t size = 1024;
  static_assert(size > events_most);
  static constexpr std::size_t words = sizeof(event) / sizeof(std::uint64_t);
  using event_words = std::array<std::uint64_t, words>;

  base::atomic<std::uint64_t> added{0};  // written by the owner
  base::atomic<pid_t> thread{0};         // of the owner, once it has added an event
  std::array<base::atomic<std::uint64_t>, size * words> memory{};

  event at(std::uint64_t n) const noexcept {
    event_words raw{};
    for (std::size_t i = 0; i < words; ++i) {
      raw[i] = memory[n % size * words + i].load(base::relaxed);
    }
    return std::bit_cast<event>(raw);
  }
};

trail::trail(int workers) : base_cycles_(base::cycles()), base_ns_(nanoseconds()) {
  for (int i = 0; i < workers; ++i) rings_.push_back(std::make_unique<ring>());
}

trail::~trail() = default;

trail::ring& trail::ring_of(const worker& w) noexcept {
  return *rings_[static_cast<std::size_t>(w.id)];
}

void trail::add(const worker& w, const event& e) noexcept {
  ring& to = ring_of(w);
  const std::uint64_t n = to.added.load(base::relaxed);
  if (n == 0) to.thread.store(gettid(), base::relaxed);
  const auto raw = std::bit_cast<ring::event_words>(e);
  for (std::size_t i = 0; i < ring::words; ++i) {
    to.memory[n % ring::size * ring::words + i].store(raw[i], base::relaxed);
  }
  to.added.store(n + 1, base::release);  // P1
}

// ---- what the scheduler tells -------------------------------------------------------------------

namespace {

std::uint64_t task_on(const fiber& self) noexcept {
  return self.observed != nullptr ? self.observed->id : 0;
}

}  // namespace

void trail::begins(fiber& self, observed_task& task) noexcept {
  add(*self.on,
      {.what = trail_event::begins, .time = base::cycles(), .task = task.id, .site = task.site});
}

void trail::ends(fiber& self, observed_task& task) noexcept {
  add(*self.on, {.what = trail_event::ends, .time = base::cycles(), .task = task.id});
}

void trail::described(fiber& self) noexcept {
  event e{.what = trail_event::described,
          .time = base::cycles(),
          .task = task_on(self),
          .site = self.task.site};
  e.set_name(self.task.name);
  add(*self.on, e);
}

void trail::suspends(fiber& self, const wait_record& why) noexcept {
  if (why.construct == nullptr) return;  // not a wait of the program
  add(*self.on, {.what = trail_event::suspends,
                 .time = base::cycles(),
                 .task = task_on(self),
                 .where = why.where,
                 .construct = why.construct});
}

void trail::resumes(fiber& self, std::uint64_t) noexcept {
  add(*self.on, {.what = trail_event::resumes, .time = base::cycles(), .task = task_on(self)});
}

void trail::phase_ends(const void*, const wait_record* of) noexcept {
  event e{.what = trail_event::phase_ends, .time = base::cycles()};
  if (of != nullptr) {
    e.where = of->where;
    e.construct = of->construct;
  }
  add(*current_fiber()->on, e);
}

void trail::worker_begins(worker& w, worker_activity what) noexcept {
  if (what != worker_activity::sleep) return;
  add(w, {.what = trail_event::sleeps, .time = base::cycles()});
}

void trail::worker_did(worker& w, worker_activity what, std::uint64_t,
                       std::uint64_t detail) noexcept {
  event e{.time = base::cycles()};
  switch (what) {
    case worker_activity::search:
      return;
    case worker_activity::sleep:
      e.what = trail_event::wakes;
      break;
    case worker_activity::poll:
      e.what = trail_event::receives;
      break;
    case worker_activity::steal:
      e.what = trail_event::steals;
      e.set_detail(detail);
      break;
  }
  add(w, e);
}

// ---- the report ---------------------------------------------------------------------------------

namespace {

void add_line_of(base::safe_line& line, const std::source_location& site, const char* before) {
  if (site.line() == 0 || !is_readable(site)) return;
  line << before << site.file_name() << ":" << std::uint64_t{site.line()};
}

void add_task(base::safe_line& line, std::uint64_t id) {
  if (id == 0) {
    line << "a task";
  } else {
    line << "task " << id;
  }
}

void add_time(base::safe_line& line, std::uint64_t ns) {
  constexpr std::uint64_t thousand = 1000;
  constexpr std::uint64_t seconds_from = 10'000'000'000;  // times before this are in us
  const std::uint64_t shown = ns >= seconds_from ? ns / thousand / thousand : ns;
  line << shown / thousand << ".";
  for (std::uint64_t digit = 100; digit > shown % thousand && digit > 1; digit /= 10) line << "0";
  line << shown % thousand << (ns >= seconds_from ? " s" : " us") << " before: ";
}

}  // namespace

void trail::describe(const event& e, base::safe_line& line) noexcept {
  const bool has_construct = e.construct != nullptr && is_text(e.construct);
  switch (e.what) {
    case trail_event::begins:
      add_task(line, e.task);
      line << " begins";
      add_line_of(line, e.site, ", spawned at ");
      break;
    case trail_event::ends:
      add_task(line, e.task);
      line << " ends";
      break;
    case trail_event::described:
      add_task(line, e.task);
      if (e.name[0] != '\0') line << " is \"" << e.name << "\"";
      add_line_of(line, e.site, e.name[0] != '\0' ? ", spawned at " : " was spawned at ");
      break;
    case trail_event::suspends:
      add_task(line, e.task);
      line << " waits in " << (has_construct ? e.construct : "something");
      add_line_of(line, e.where, " at ");
      break;
    case trail_event::resumes:
      add_task(line, e.task);
      line << " goes on";
      break;
    case trail_event::phase_ends:
      line << "completes " << (has_construct ? e.construct : "a phase");
      add_line_of(line, e.where, ", for which tasks waited at ");
      break;
    case trail_event::sleeps:
      line << "sleeps, because there is no work";
      break;
    case trail_event::wakes:
      line << "wakes up";
      break;
    case trail_event::steals:
      line << "steals " << (e.detail() >> 32U) << (e.detail() >> 32U == 1 ? " task" : " tasks")
           << " from worker " << (e.detail() & 0xffff'ffffU);
      break;
    case trail_event::receives:
      line << "receives messages";
      break;
  }
}

bool trail::has_tasks() const noexcept {
  return std::ranges::any_of(rings_, [](const auto& each) {
    const std::uint64_t end = each->added.load(base::acquire);  // P1
    for (std::uint64_t n = end - std::min<std::uint64_t>(end, events_most); n < end; ++n) {
      if (each->at(n).task != 0) return true;
    }
    return false;
  });
}

bool trail::runs_on_this_thread(int worker) const noexcept {
  return rings_[static_cast<std::size_t>(worker)]->thread.load(base::relaxed) == gettid();
}

void trail::write(int worker, std::size_t most, take_line take, void* context) const noexcept {
  const ring& from = *rings_[static_cast<std::size_t>(worker)];
  const std::uint64_t now = base::cycles();
  const double ns_of_cycle = static_cast<double>(nanoseconds() - base_ns_) /
                             static_cast<double>(std::max<std::uint64_t>(now - base_cycles_, 1));
  const std::uint64_t end = from.added.load(base::acquire);  // P1
  for (std::uint64_t n = end - std::min<std::uint64_t>({end, most, events_most}); n < end; ++n) {
    const event e = from.at(n);
    base::safe_line line;
    const std::uint64_t ago = now > e.time ? now - e.time : 0;
    add_time(line, static_cast<std::uint64_t>(static_cast<double>(ago) * ns_of_cycle));
    describe(e, line);
    take(context, line);
  }
}

}  // namespace apgas::inline v0::scheduler
