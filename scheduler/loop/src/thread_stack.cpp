// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <apgas/base/atomic.hpp>
#include <apgas/base/sanitizer.hpp>

#include "thread_stack.hpp"

namespace apgas::inline v0::scheduler {
namespace {

using namespace std::chrono_literals;

constexpr int answer_signal = SIGURG;    // a late one has no effect without a handler
constexpr auto answer_patience = 500ms;  // on a loaded machine a thread may wait to run

// The answer of the interrupted thread. A handler has no argument that could lead to an object.
//
// Pairs
//   P1  The handler that takes a request overwrites frames only after they have been read.
//   P2  The thread that asked and sees `answered` sees all frames.
enum class request_state : std::uint8_t { none, asked, taken, answered };
constexpr std::uint64_t of_thread(request_state s, pid_t thread) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(thread)} << 8U | static_cast<std::uint8_t>(s);
}
constexpr std::uint64_t no_request = of_thread(request_state::none, 0);
struct stack_request {
  base::atomic<std::uint64_t> state{no_request};  // with the thread that is asked
  bool inside = false;  // the frames of the handler and of the signal are passed
  std::size_t size = 0;
  std::array<std::uintptr_t, 64> frames{};
};
constinit stack_request request;
constinit std::mutex request_lock;  // held by the thread that asks

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void*) {
  int is_exact = 0;  // as that of an interrupted instruction; a return address is not
  const std::uintptr_t at = _Unwind_GetIPInfo(context, &is_exact);
  request.inside = request.inside || is_exact != 0;
  if (!request.inside) return _URC_NO_REASON;
  if (at == 0 || request.size == request.frames.size()) return _URC_END_OF_STACK;
  request.frames[request.size++] = is_exact != 0 ? at : at - 1;
  return _URC_NO_REASON;
}

// Context: signal handler. Since glibc 2.35 the unwinder of GCC 12 takes no lock and allocates
// nothing, if it has been called before.
void on_request(int) noexcept {
  const int error = errno;
  const auto here = static_cast<pid_t>(syscall(SYS_gettid));
  const std::uint64_t taken = of_thread(request_state::taken, here);
  std::uint64_t expected = of_thread(request_state::asked, here);
  if (request.state.compare_exchange_strong(expected, taken, base::acquire)) {  // P1
    request.inside = false;
    request.size = 0;
    _Unwind_Backtrace(note_frame, nullptr);
    request.state.store(of_thread(request_state::answered, here), base::release);  // P2
  }
  errno = error;
}

// The handler of the signal, in place of the default, while the object exists.
class installed_handler {
 public:
  installed_handler() noexcept {
    struct sigaction ours{};
    ours.sa_handler = on_request;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    installed_ = handler_is(SIG_DFL) && sigaction(answer_signal, &ours, nullptr) == 0;
  }
  installed_handler(const installed_handler&) = delete;
  installed_handler& operator=(const installed_handler&) = delete;
  ~installed_handler() {
    if (!installed_ || !handler_is(on_request)) return;
    struct sigaction none{};
    none.sa_handler = SIG_DFL;
    static_cast<void>(sigaction(answer_signal, &none, nullptr));
  }
  bool installed() const noexcept { return installed_; }

 private:
  static bool handler_is(void (*handler)(int)) noexcept {
    struct sigaction present{};
    return sigaction(answer_signal, nullptr, &present) == 0 &&
           (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == handler;
  }

  bool installed_ = false;
};

enum class thread_activity : std::uint8_t { may_be_interrupted, sleeps, unknown };

// The system tells the number of the system call in which a thread sleeps, and its arguments.
thread_activity activity_of(pid_t thread) {
  using enum thread_activity;
  std::ifstream file(fmt::format("/proc/self/task/{}/syscall", thread));
  std::string word;
  if (!(file >> word)) return unknown;
  if (word == "running" || word == "-1") return may_be_interrupted;
  if (word != std::to_string(SYS_futex)) return sleeps;
  for (int i = 0; i < 4; ++i) file >> word;  // the fourth argument is the timeout
  return file && word == "0x0" ? may_be_interrupted : sleeps;
}

}  // namespace

thread_stack stack_of_thread(pid_t thread) {
  thread_stack found;
  const std::lock_guard one_asks(request_lock);
  if (APGAS_THREAD_SANITIZER != 0) return found;  // it delays handlers
  const auto before = static_cast<request_state>(request.state.load(base::acquire) & 0xff);  // P2
  if (before == request_state::taken) return found;  // an earlier handler still writes
  const thread_activity activity = activity_of(thread);
  found.in_system_call = activity == thread_activity::sleeps;
  const installed_handler handler;
  if (activity != thread_activity::may_be_interrupted || !handler.installed()) return found;
  found.frames.reserve(request.frames.size());
  // The first call of a process prepares what must not happen in a handler.
  _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
  const std::uint64_t answered = of_thread(request_state::answered, thread);
  request.state.store(of_thread(request_state::asked, thread), base::release);  // P1
  if (syscall(SYS_tgkill, getpid(), thread, answer_signal) == 0) {
    const auto end = std::chrono::steady_clock::now() + answer_patience;
    while (request.state.load(base::acquire) != answered &&  // P2
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
  }
  // Withdrawn unless the handler has begun.
  std::uint64_t expected = of_thread(request_state::asked, thread);
  request.state.compare_exchange_strong(expected, no_request, base::acquire);  // P2
  if (expected == answered) {
    found.frames.assign(request.frames.begin(),
                        request.frames.begin() + static_cast<std::ptrdiff_t>(request.size));
  }
  return found;
}

}  // namespace apgas::inline v0::scheduler
