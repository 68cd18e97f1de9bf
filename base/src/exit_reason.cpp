// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/exit_reason.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <thread>

#include <unistd.h>

#include <apgas/base/atomic.hpp>
#include <apgas/base/safe_line.hpp>

namespace apgas::inline v0::base {
namespace {

char name_of_place[320] = "a place";
atomic<const exit_reason_listener*> listener{nullptr};
atomic<bool> already_printed{false};  // a flag only; no data depends on it
atomic<pid_t> ending{0};              // id of the thread whose signal ends the process; 0: none
pid_t launcher = 0;                   // the parent process
atomic<void (*)() noexcept> end_actions[2] = {nullptr, nullptr};
atomic<void (*)(safe_line&) noexcept> describe_thread{nullptr};
atomic<pid_t> acting{0};  // the thread that runs the end actions
atomic<bool> has_acted{false};

[[nodiscard]] const exit_reason_listener* current() noexcept {
  return listener.load(acquire);  // P1
}

// Ends the process by the default action of the signal, so that its parent sees which one it was.
void end_by(int number) noexcept {
  std::signal(number, SIG_DFL);
  std::raise(number);  // takes effect when the handler returns
}

void speak(int number) noexcept {
  const bool prints = !already_printed.exchange(true, relaxed) && !others_printed_exit_reason();
  if (prints) {
    const char* const what = sigdescr_np(number);
    safe_line line;
    line << "apgas: " << name_of_place << ": ended by signal " << static_cast<std::uint64_t>(number)
         << " (" << (what ? what : "unknown") << ")";
    // SIGTERM comes from outside, to any thread.
    const auto describe = describe_thread.load(acquire);
    if (describe != nullptr && number != SIGTERM) describe(line);
    line.print();
  }
  run_end_actions();
  const exit_reason_listener* const others = current();
  if (prints && others != nullptr) others->printed(128 + number);
}

void on_signal(int number, siginfo_t* info, void*) {
  const int saved = errno;
  const bool asked = number == SIGTERM && info->si_code == SI_USER && info->si_pid == launcher;
  if (asked) {
    const exit_reason_listener* const others = current();
    if (!others || !others->asked_to_end(number)) end_by(number);
  } else {
    pid_t nobody = 0;
    if (!ending.compare_exchange_strong(nobody, gettid(), relaxed, relaxed) && nobody != gettid()) {
      while (true) pause();  // another thread is about to end the process
    }
    speak(number);
    end_by(number);
  }
  errno = saved;
}

// Installs the handler for those of the signals that have none.
void catch_free(std::initializer_list<int> signals) noexcept {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : signals) {
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    const bool free = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (free) sigaction(number, &action, nullptr);
  }
}

}  // namespace

void catch_crashes() noexcept {
  static const bool caught = [] {
    catch_free({SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT});
    return true;
  }();
  static_cast<void>(caught);
}

void catch_signals() noexcept {
  catch_crashes();
  static const bool caught = [] {
    launcher = getppid();
    catch_free({SIGTERM});
    return true;
  }();
  static_cast<void>(caught);
}

void set_thread_description(void (*describe)(safe_line& line) noexcept) noexcept {
  describe_thread.store(describe, release);
}

void set_exit_reporting(std::string_view text, const exit_reason_listener* added) noexcept {
  listener.store(nullptr, relaxed);
  const std::size_t bytes = std::min(text.size(), sizeof(name_of_place) - 1);
  std::memcpy(name_of_place, text.data(), bytes);
  name_of_place[bytes] = '\0';
  listener.store(added, release);  // P1
}

bool others_printed_exit_reason() noexcept {
  const exit_reason_listener* const others = current();
  return others != nullptr && others->others_printed();
}

bool others_print_exit_reason_within(std::chrono::milliseconds patience) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!others_printed_exit_reason()) {
    if (current() == nullptr || std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void add_end_action(void (*action)() noexcept) noexcept {
  for (auto& each : end_actions) {
    void (*found)() noexcept = nullptr;
    if (each.compare_exchange_strong(found, action, acq_rel, acquire) || found == action) return;
  }
}

void run_end_actions() noexcept {
  if (end_actions[0].load(acquire) == nullptr) return;
  pid_t nobody = 0;
  if (acting.compare_exchange_strong(nobody, gettid(), relaxed, relaxed)) {
    for (auto& each : end_actions) {
      if (void (*const action)() noexcept = each.load(acquire)) action();
    }
    has_acted.store(true, relaxed);
    return;
  }
  constexpr int milliseconds_most = 5000;
  for (int i = 0; nobody != gettid() && !has_acted.load(relaxed) && i < milliseconds_most; ++i) {
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

void exit_reason_printed(int code) noexcept {
  run_end_actions();
  if (already_printed.exchange(true, relaxed)) return;
  if (const exit_reason_listener* const others = current()) others->printed(code);
}

}  // namespace apgas::inline v0::base
