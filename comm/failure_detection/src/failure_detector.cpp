// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <csignal>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/comm/transports.hpp>

#include "failure_detector.hpp"
#include "launcher_process.hpp"

namespace apgas::inline v0::comm {

namespace {

using time = detector_state::time;
using namespace std::chrono_literals;

time now_of_clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

base::atomic<failure_detector*> the_failure_detector{nullptr};

// The thread blocks all signals, so that none of the process is delivered to it.
std::thread start_thread(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread made([run = std::move(body)] {
    const base::own_thread counts;
    run();
  });
  pthread_setname_np(made.native_handle(), "apgas-detector");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

std::set<rank> set_of(const std::vector<rank>& ranks) { return {ranks.begin(), ranks.end()}; }

}  // namespace

failure_detector* current_failure_detector() noexcept {
  return the_failure_detector.load(base::acquire);  // P2
}

void set_current_failure_detector(failure_detector* current) noexcept {
  the_failure_detector.store(current, base::release);  // P2
}

failure_detector::failure_detector(detector_plan plan, end_function end, print_function print)
    : tree_(std::move(plan.tree)),
      here_(plan.here),
      timeout_(plan.timeout),
      end_(end),
      print_(print),
      state_(tree_, here_, timeout_, now_of_clock()),
      acceptor_(
          plan.token, set_of(tree_.children(here_)),
          [this](rank from, descriptor connection) { add_link(from, std::move(connection)); },
          [this](const std::string& line) { print_("warning: " + line); }),
      max_links_(tree_.children(here_).size() + 1),
      launcher_(launched_by_mpi() ? monitor_launcher() : descriptor()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  numbers_ = std::make_unique<base::atomic<int>[]>(max_links_);
  for (std::size_t i = 0; i < max_links_; ++i) numbers_[i].store(-1, base::relaxed);
  if (plan.parent) add_link(tree_.parent(here_), std::move(plan.parent));
  for (descriptor& listener : plan.listeners) acceptor_.open(std::move(listener));
  thread_ = start_thread([this] { run(); });
}

failure_detector::~failure_detector() {
  stop_.store(true, base::release);  // P1
  eventfd_write(wake_.number(), 1);
  if (thread_.joinable()) thread_.join();
}

void failure_detector::wait_for_all() {
  done_.store(true, base::release);  // P1
  eventfd_write(wake_.number(), 1);
  thread_.join();
}

void failure_detector::add_link(rank other, descriptor connection) {
  APGAS_ASSERT(links_.size() < max_links_);
  numbers_[links_.size()].store(connection.number(), base::relaxed);
  links_.push_back({other, std::move(connection), {}});
  state_.on_heartbeat(other, now_of_clock());
}

void failure_detector::send_to_all(const detector_message& record) const noexcept {
  for (std::size_t i = 0; i < max_links_; ++i) {
    if (const int to = numbers_[i].load(base::relaxed); to >= 0) send_record(to, record);
  }
}

void failure_detector::reported(int code) noexcept {
  int none = 0;
  if (!reported_code_.compare_exchange_strong(none, code, base::release, base::relaxed)) {  // P1
    return;
  }
  send_to_all({.what = detector_message::kind::reported, .code = code});
  eventfd_write(wake_.number(), 1);
}

void failure_detector::asked_to_end(int signal) noexcept {
  asked_signal_.store(signal, base::release);  // P1
  eventfd_write(wake_.number(), 1);
}

bool failure_detector::failure_found_within(std::chrono::milliseconds patience) const noexcept {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!ending_.load(base::relaxed)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

void failure_detector::run() {
  bool sent_goodbye = false;
  while (!stop_.load(base::acquire) && !state_.all_left()) {  // P1
    wait(now_of_clock());
    const time now = now_of_clock();
    state_.on_wake(now);
    const pollfd* found = polled_.data() + 2;
    const std::size_t known = links_.size();  // before the acceptor admits more
    for (std::size_t i = 0; i < known; ++i) {
      if (links_[i].open && (found++)->revents != 0) read(links_[i], now);
    }
    acceptor_.look(found, now);
    acceptor_.tick(now);
    take_own_events(now);
    if (now >= next_heartbeat_ && timeout_ > time{0}) {
      if (!sent_goodbye) send_to_all({.what = detector_message::kind::heartbeat});
      next_heartbeat_ = now + state_.interval();
    }
    carry_out_actions(now);
    if (!sent_goodbye && state_.all_done()) {
      send_to_all({.what = detector_message::kind::goodbye});
      sent_goodbye = true;
    }
  }
  if (!sent_goodbye) send_to_all({.what = detector_message::kind::goodbye});
}

void failure_detector::wait(time now) {
  polled_.clear();
  polled_.push_back({wake_.number(), POLLIN, 0});
  polled_.push_back({launcher_.number(), POLLIN, 0});  // ppoll skips a negative descriptor
  for (const link& each : links_) {
    if (each.open) polled_.push_back({each.connection.number(), POLLIN, 0});
  }
  acceptor_.add_to(polled_);
  time until = state_.deadline(now);
  if (timeout_ > time{0}) until = std::min(until, std::max(next_heartbeat_, now));
  const time left = until - now;
  const timespec limit{.tv_sec = left / 1s, .tv_nsec = (left % 1s).count()};
  if (ppoll(polled_.data(), polled_.size(), &limit, nullptr) < 0) {
    for (pollfd& each : polled_) each.revents = 0;
  }
  // The launcher has ended, so nothing would read a message from this process.
  if ((polled_[1].revents & POLLIN) != 0) _exit(128 + SIGKILL);
}

void failure_detector::read(link& from, time now) {
  std::byte bytes[1024];
  while (true) {
    const ssize_t n = recv(from.connection.number(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      from.open = false;
      state_.on_connection_end(from.other, now);
      return;
    }
    state_.on_heartbeat(from.other, now);
    std::span<const std::byte> rest(bytes, static_cast<std::size_t>(n));
    while (const auto record = from.records.take(rest)) handle_message(from, *record, now);
  }
}

void failure_detector::handle_message(const link& from, const detector_message& record, time now) {
  switch (record.what) {
    case detector_message::kind::heartbeat:
      return;
    case detector_message::kind::goodbye:
      return state_.on_goodbye(from.other);
    case detector_message::kind::done:
      return state_.on_done(from.other);
    case detector_message::kind::failure:
      return state_.on_forwarded_failure(
          record.about, record.cause == 0 ? failure_cause::ended : failure_cause::timed_out, now);
    case detector_message::kind::reported:
      state_.on_reported(record.code, now);
      return announce(record.code);
  }
}

// Passes on the events of this process: a printed exit reason, a request to end, its being done.
void failure_detector::take_own_events(time now) {
  eventfd_t ignored = 0;
  eventfd_read(wake_.number(), &ignored);
  if (const int code = reported_code_.load(base::acquire); code != 0) {  // P1
    state_.on_reported(code, now);
  }
  if (const int signal = asked_signal_.load(base::acquire); signal != 0) {  // P1
    state_.on_asked_to_end(128 + signal, now);
    base::run_end_actions();  // now: the launcher kills this process in about a second
  }
  if (done_.load(base::acquire)) state_.on_own_done();  // P1
}

void failure_detector::carry_out_actions(time now) {
  for (detector_action a = state_.next(now); a.what != detector_action::kind::none;
       a = state_.next(now)) {
    switch (a.what) {
      case detector_action::kind::none:
        break;
      case detector_action::kind::forward:
        send_record(numbers_[0].load(base::relaxed),
                    {.what = detector_message::kind::failure,
                     .about = a.places[0],
                     .cause = static_cast<std::uint32_t>(a.cause)});
        break;
      case detector_action::kind::report:
        print_notice(a);
        break;
      case detector_action::kind::end_job:
        end_process(a.code);
        break;
      case detector_action::kind::send_done:
        send_record(numbers_[0].load(base::relaxed), {.what = detector_message::kind::done});
    }
  }
  if (state_.ending()) ending_.store(true, base::relaxed);
}

void failure_detector::print_notice(const detector_action& notice) {
  announce(1);
  const rank first = notice.places.front();
  notice_of_timeout_ = notice.cause == failure_cause::timed_out;
  std::string what = "ended unexpectedly (killed, for example by the kernel for lack of memory)";
  if (notice_of_timeout_) {
    const bool alone = tree_.same_host(first, here_) || !tree_.is_leader(first);
    what = fmt::format("{} sent no heartbeat for {:g} s ({})",
                       notice.places.size() > 1 ? "have" : "has",
                       std::chrono::duration<double>(timeout_).count(),
                       alone ? "stopped, or its host is overloaded" : "host or network link down");
  }
  print_(fmt::format("{} {}; this ends the job", tree_.names(notice.places), what));
}

// Tells the connected places, once, that a reason for the end has been printed.
void failure_detector::announce(int code) noexcept {
  others_reported_.store(true, base::relaxed);
  if (std::exchange(announced_, true)) return;
  send_to_all({.what = detector_message::kind::reported, .code = code});
}

void failure_detector::end_process(int code) {
  announce(code);
  const int asked = asked_signal_.load(base::acquire);  // P1
  if (asked != 0) {                                     // the launcher ends the other places
    std::signal(asked, SIG_DFL);
    kill(getpid(), asked);
    std::this_thread::sleep_for(1s);
    _exit(code);
  }
  if (notice_of_timeout_) end_launcher_if_it_stays();
  end_(code);
}

void call_failed(const std::string& call, rank other, const std::string& reason) {
  // If the place that reports the failure is not connected to this one, the launcher ends the job
  // within this time.
  constexpr auto patience = 5s;
  const failure_detector* const detector = current_failure_detector();
  while (detector && detector->failure_found_within(patience)) pause();
  std::string with;
  if (other >= 0) {
    with = fmt::format(" with {}",
                       detector ? detector->tree().name(other) : fmt::format("rank {}", other));
  }
  base::fatal(fmt::format("{}{} failed: {}; this ends the job", call, with, reason));
}

}  // namespace apgas::inline v0::comm
