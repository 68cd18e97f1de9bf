// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>

#include "job_watch.hpp"

namespace apgas::inline v0::launch {
namespace {

using namespace std::chrono_literals;
using reply = deadlock_waves::result;

constexpr auto look_pause = 100ms;      // between two looks at a place
constexpr auto deadlock_patience = 1s;  // if no other is given
constexpr auto between_equal = 200ms;   // between the two waves that find a deadlock
constexpr auto after_refusal = 500ms;   // after a wave that found that some place runs
constexpr auto place_patience = 5s;     // a place that does not answer for so long is reported
constexpr auto slept_lately = 1s;       // a worker may wake for a moment, or poll
constexpr auto teams_pause = 500ms;     // after an answer, their timer stops for so long
constexpr int refusals_max = 10;        // then a standstill is reported, although nobody knows why

base::atomic<unsigned> answered_signals{0};  // by a place of this process; all see the same signals

}  // namespace

job_watch::job_watch(sync::place_state& place, remote::remote_teams& teams,
                     const base::settings& settings, print_function print)
    : place_(place),
      teams_(teams),
      print_(print),
      patience_(settings.watchdog_s != 0 ? std::chrono::seconds(settings.watchdog_s)
                                         : deadlock_patience),
      looks_(place.places > 1 &&
             (settings.watchdog_s != 0 || settings.deadlock == base::deadlock_choice::abort ||
              settings.deadlock == base::deadlock_choice::report)),
      reports_always_(settings.watchdog_s != 0),
      on_deadlock_(settings.deadlock == base::deadlock_choice::automatic
                       ? base::deadlock_choice::abort
                       : settings.deadlock),
      waves_(place.places),
      answers_(static_cast<std::size_t>(place.places)) {}

job_watch::~job_watch() { stop(); }

void job_watch::start() {
  if (place_.seeded) looks_ = false;  // the schedule notices deadlocks, and has no real time
  watched_.emplace(*place_.task_scheduler, looks_);
  signals_ = watched_->answered_signals();
  if (auto* const schedule = place_.task_scheduler->schedule())
    schedule->explain_with(place_.here, [this] { return part(scheduler::graph_purpose::cycle); });
  const std::lock_guard hold(mutex_);
  running_ = true;
  if (looks_ || !inbox_.empty()) begin_thread();
}

// Requires: mutex_ is held.
void job_watch::begin_thread() {
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
}

void job_watch::stop() noexcept {
  {
    const std::lock_guard hold(mutex_);
    running_ = false;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

// A frame that comes before start() waits in the inbox.
void job_watch::on_frame(const comm::inbound_frame& frame) {
  received_.store(received_.load(base::relaxed) + 1, base::relaxed);
  const std::lock_guard hold(mutex_);
  inbox_.push_back({frame.source,
                    static_cast<operation>(frame.header->handler & 0xff),
                    static_cast<std::uint32_t>(frame.header->finish),
                    {frame.payload.begin(), frame.payload.end()}});
  if (!running_) return;
  try {
    begin_thread();
  } catch (const std::system_error&) {  // no thread is left: this place does not answer
    inbox_.clear();
    return;
  }
  wake_.notify_all();
}

void job_watch::send(comm::rank to, operation what, std::uint32_t number,
                     std::span<const std::byte> payload) {
  ++sent_;
  place_.endpoint->send(to,
                        {.kind = comm::frame_kind::control,
                         .handler = control_watch | static_cast<std::uint64_t>(what),
                         .finish = number},
                        payload);
  place_.task_scheduler->keep_polling();
}

void job_watch::watch() noexcept {
  const base::own_thread counts;
  pthread_setname_np(pthread_self(), "apgas-watch");
  std::unique_lock lock(mutex_);
  while (running_) {
    const auto is_ready = [this] { return !running_ || !inbox_.empty() || !requests_.empty(); };
    if (const time next = next_time(); next == time::max()) {
      wake_.wait(lock, is_ready);
    } else {
      wake_.wait_until(lock, next, is_ready);
    }
    if (!running_) break;
    const std::vector<message> messages = std::exchange(inbox_, {});
    std::vector<wanted_report> requests = std::exchange(requests_, {});
    lock.unlock();
    try {
      for (const message& m : messages) handle(m);
      for (wanted_report& w : requests) want(std::move(w));
      look();
      begin_collection();
      end_collection();
    } catch (const std::exception& e) {  // a report that cannot be made is left out
      print_(fmt::format("a report of the watchdog is left out: {}", e.what()));
      collecting_.reset();
      searching_.reset();
    }
    lock.lock();
  }
  collecting_.reset();  // breaks the promises
  waiting_.clear();
  requests_.clear();
}

job_watch::time job_watch::next_time() const {
  if (!collecting_ && !waiting_.empty()) return time::min();
  time next = looks_ ? look_again_ : time::max();
  if (collecting_) next = std::min(next, collecting_->end);
  if (teams_resume_) next = std::min(next, *teams_resume_);
  return next;
}

void job_watch::handle(const message& m) {
  switch (m.what) {
    case operation::probe: {
      const wave_answer a = answer_wave();
      return send(m.source, operation::answer, m.number, std::as_bytes(std::span(&a, 1)));
    }
    case operation::answer: {
      wave_answer a;
      if (m.payload.size() != sizeof a) break;
      std::memcpy(&a, m.payload.data(), sizeof a);
      return on_answer(m.source, m.number, a);
    }
    case operation::request: {
      scheduler::graph_purpose purpose{};
      if (m.payload.size() != sizeof purpose) break;
      std::memcpy(&purpose, m.payload.data(), sizeof purpose);
      comm::out_archive out;
      out(part(purpose));
      return send(m.source, operation::part, m.number, out.bytes());
    }
    case operation::part: {
      if (!collecting_ || collecting_->number != m.number) return;
      comm::in_archive in(m.payload);
      return take_part(static_cast<std::size_t>(m.source), in.read<scheduler::place_waits>());
    }
    case operation::search: {
      comm::out_archive out;
      out(long_waits());
      return send(m.source, operation::long_waits, m.number, out.bytes());
    }
    case operation::long_waits: {
      if (!searching_ || searching_->number != m.number) return;
      comm::in_archive in(m.payload);
      return take_long_waits(static_cast<std::size_t>(m.source), in.read<scheduler::place_waits>());
    }
    case operation::report:
      return want({reason::signal, place_patience, nullptr});
  }
  base::fatal(fmt::format("place {} sent a malformed frame of the watchdog", m.source));
}

// ---- looking at the places ----------------------------------------------------------------------

// Notes since when no task has run here.
void job_watch::note(const scheduler::place_watch::state& seen, std::uint64_t received) {
  if (!seen.asleep) return;  // what it runs has come from a frame, or will have suspended
  const bool timer = seen.timers > (teams_.timer_set() ? 1U : 0U);
  if (stands_since_ && !timer && seen.activity == activity_at_ && received == received_at_) return;
  stands_since_ = clock::now();
  activity_at_ = seen.activity;
  received_at_ = received;
}

std::chrono::milliseconds job_watch::stood() const {
  if (!stands_since_) return 0ms;
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *stands_since_);
}

// The timer of the teams runs while members wait, and its messages change nothing once all of them
// have been delivered. So it pauses while the waves ask, and the place can stand still.
job_watch::wave_answer job_watch::answer_wave() {
  wave_answer a;
  if (stood() >= look_pause && teams_.pause()) teams_resume_ = clock::now() + teams_pause;
  scheduler::place_watch::state seen;
  comm::traffic all;
  std::uint64_t own_received = 0;
  std::uint64_t heard = 0;
  for (int i = 0; !seen.asleep && watched_->wait_for_sleep(i); ++i) {
    seen = watched_->look(true, [&] {
      all = place_.endpoint->total_traffic();
      own_received = received_.load(base::relaxed);
      heard = teams_.heard();
    });
  }
  note(seen, all.frames_received - own_received - heard);
  a.state = {.still = seen.still,
             .activity = seen.activity,
             .sent = all.frames_sent - sent_,
             .received = all.frames_received - own_received};
  if (seen.asleep) a.stood_ms = static_cast<std::uint64_t>(stood().count());
  a.blocking = seen.blocking ? 1 : 0;
  a.may_be_woken = seen.blocking || seen.threads ? 1 : 0;
  return a;
}

void job_watch::resume_teams() {
  if (!teams_resume_ || clock::now() < *teams_resume_) return;
  teams_resume_.reset();
  teams_.resume();
}

void job_watch::look() {
  resume_teams();
  const time now = clock::now();
  if (!looks_ || now < look_again_) return;
  look_again_ = now + look_pause;
  const unsigned now_signals = scheduler::place_watch::quit_signals();
  if (std::exchange(signals_, now_signals) != now_signals &&
      answered_signals.exchange(now_signals, base::relaxed) != now_signals) {
    if (place_.here == 0) {
      want({reason::signal, place_patience, nullptr});
    } else {
      send(0, operation::report, 0);
    }
  }
  std::uint64_t received = 0;
  const auto seen = watched_->look(false, [&] {
    received = place_.endpoint->total_traffic().frames_received - received_.load(base::relaxed) -
               teams_.heard();
  });
  note(seen, received);
  if (seen.asleep) slept_at_ = now;
  if (place_.here != 0) return;
  some_run_ |= !seen.asleep;
  end_search(now);
  begin_search(now);
  if (waves_.in_progress()) {
    if (now - wave_begun_ >= place_patience) on_silence(now);
  } else if (now - slept_at_ < slept_lately && stood() >= patience_ && now >= next_wave_) {
    ask_all(now);
  }
}

void job_watch::ask_all(time now) {
  wave_ = waves_.begin();
  wave_begun_ = now;
  answers_.assign(answers_.size(), {});
  const wave_answer own = answer_wave();  // first, since the probes wait to be sent for a moment
  for (comm::rank p = 1; p < place_.places; ++p) send(p, operation::probe, wave_);
  on_answer(0, wave_, own);
}

void job_watch::on_answer(comm::rank place, std::uint32_t wave, const wave_answer& a) {
  if (!waves_.in_progress() || wave != wave_) return;
  answers_[static_cast<std::size_t>(place)] = a;
  const reply r = waves_.on_answer(place, wave, a.state);
  if (r != reply::none) all_may_wait_ = r == reply::repeat;
  some_run_ |= r == reply::not_still;
  const auto stands = [this](const wave_answer& each) {
    return std::cmp_greater_equal(each.stood_ms, patience_.count()) &&
           (reports_always_ || each.blocking == 0);
  };
  const auto may_be_woken = [](const wave_answer& each) { return each.may_be_woken != 0; };
  switch (r) {
    case reply::none:
      return;
    case reply::repeat:
      next_wave_ = clock::now() + between_equal;
      return;
    case reply::not_still:
      next_wave_ = clock::now() + after_refusal;
      // What may turn out to be a deadlock in one of the next waves is reported as one.
      if (!std::ranges::all_of(answers_, stands)) {
        refusals_ = 0;
      } else if (++refusals_ >= refusals_max || std::ranges::any_of(answers_, may_be_woken)) {
        want_once(reason::standstill);
      }
      return;
    case reply::deadlock:
      next_wave_ = clock::now() + after_refusal;
      want_once(on_deadlock_ == base::deadlock_choice::off ? reason::standstill : reason::deadlock);
  }
}

// Some places have not answered. The others may have something to report.
void job_watch::on_silence(time now) {
  bool all_stand = true;
  for (comm::rank p = 0; p < place_.places; ++p) {
    const auto stood_ms = answers_[static_cast<std::size_t>(p)].stood_ms;
    if (waves_.has_answered(p)) all_stand &= std::cmp_greater_equal(stood_ms, patience_.count());
  }
  waves_.abandon();
  all_may_wait_ = false;
  some_run_ = true;
  next_wave_ = now + after_refusal;
  if (all_stand && reports_always_) want_once(reason::standstill);
}

// Wants a report unless it has been printed and no task has run since.
void job_watch::want_once(reason why) {
  std::uint64_t activity = 0;
  for (const wave_answer& a : answers_) activity += a.state.activity + a.state.received;
  const bool is_known = reported_at_ == activity && reported_ &&
                        (*reported_ == reason::deadlock || why == reason::standstill);
  if (is_known) return;
  reported_at_ = activity;
  reported_ = why;
  want({why, place_patience, nullptr});
}

}  // namespace apgas::inline v0::launch
