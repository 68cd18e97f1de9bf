// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <apgas/base/atomic.hpp>
#include <apgas/base/sanitizer.hpp>

#include "frame_names.hpp"
#include "thread_stack.hpp"

// A program; functions in the namespace of the library would be left out of backtraces.
namespace computing_program {
namespace {

apgas::base::atomic<bool> computes{false};

[[gnu::noinline]] void compute(const apgas::base::atomic<bool>& end) {
  computes.store(true);
  while (!end.load(apgas::base::relaxed)) {
  }
  asm volatile("" ::: "memory");  // not a tail call
}
[[gnu::noinline]] void call_compute(const apgas::base::atomic<bool>& end) {
  compute(end);
  asm volatile("" ::: "memory");
}

}  // namespace
}  // namespace computing_program

// The watchdog interrupts a thread to learn where it is. The thread must not notice.
namespace apgas::scheduler {
namespace {

using computing_program::call_compute;
using computing_program::computes;

constexpr bool answers = APGAS_THREAD_SANITIZER == 0;  // which delays the handler

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// A thread that runs f(end), where `end` becomes true when the object is destroyed.
class observed_thread {
 public:
  explicit observed_thread(std::function<void(const base::atomic<bool>&)> f)
      : thread_([this, f = std::move(f)] {
          id_.store(this_thread());
          f(end_);
        }) {
    while (id_.load() == 0) std::this_thread::yield();
  }
  observed_thread(const observed_thread&) = delete;
  observed_thread& operator=(const observed_thread&) = delete;
  ~observed_thread() {
    end_.store(true);
    thread_.join();
  }
  pid_t id() const { return id_.load(); }

 private:
  base::atomic<pid_t> id_{0};
  base::atomic<bool> end_{false};
  std::thread thread_;
};

auto urgent_handler() {
  struct sigaction present{};
  sigaction(SIGURG, nullptr, &present);
  return present.sa_handler;
}

// Waits until the thread sleeps in that system call.
void wait_for_call(pid_t thread, long number) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  for (std::string word; word != std::to_string(number);) {
    std::this_thread::yield();
    std::ifstream(path) >> word;
  }
}

TEST(ThreadStack, OfAComputationNamesItsFunctions) {
  computes.store(false);
  const observed_thread t(call_compute);
  while (!computes.load()) std::this_thread::yield();
  for (int i = 0; i < (answers ? 100 : 0); ++i) {
    frame_names names;
    do {
      names = names_of(stack_of_thread(t.id()).frames, 8);
    } while (names.frames.empty());  // on a loaded machine it may answer too late
    const auto at = std::ranges::find_if(
        names.frames, [](const std::string& f) { return f.ends_with("::compute"); });
    ASSERT_NE(at, names.frames.end());
    ASSERT_NE(at + 1, names.frames.end());
    EXPECT_THAT(at[1], testing::EndsWith("::call_compute"));
  }
  EXPECT_EQ(urgent_handler(), SIG_DFL);
}

TEST(ThreadStack, HasAsManyFramesAsAreWanted) {
  computes.store(false);
  const observed_thread t(call_compute);
  while (!computes.load()) std::this_thread::yield();
  frame_names names;
  while (answers && names.frames.empty()) names = names_of(stack_of_thread(t.id()).frames, 1);
  EXPECT_EQ(names.frames.size(), answers ? 1U : 0U);
}

TEST(ThreadStack, DoesNotEndASystemCallEarly) {
  base::atomic<int> result{-1};
  {
    const observed_thread t([&result](const base::atomic<bool>&) {
      const timespec rest{.tv_sec = 2, .tv_nsec = 0};
      result.store(nanosleep(&rest, nullptr));
    });
    wait_for_call(t.id(), SYS_clock_nanosleep);
    const thread_stack stack = stack_of_thread(t.id());
    EXPECT_EQ(stack.in_system_call, answers);
    EXPECT_TRUE(stack.frames.empty());
  }
  EXPECT_EQ(result.load(), 0);
}

TEST(ThreadStack, OfAThreadThatWaitsForAMutex) {
  std::mutex held;
  held.lock();
  {
    const observed_thread t([&held](const base::atomic<bool>&) { const std::lock_guard l(held); });
    while (answers && stack_of_thread(t.id()).frames.empty()) {
    }
    held.unlock();
  }
  EXPECT_TRUE(held.try_lock());
  held.unlock();
}

base::atomic<int> urgent_signals{0};

TEST(ThreadStack, LeavesTheHandlerOfTheProgram) {
  const auto before = std::signal(SIGURG, [](int) { urgent_signals.fetch_add(1, base::relaxed); });
  const auto ours = urgent_handler();
  {
    const observed_thread t(call_compute);
    EXPECT_TRUE(stack_of_thread(t.id()).frames.empty());
  }
  EXPECT_EQ(urgent_handler(), ours);
  EXPECT_EQ(urgent_signals.load(), 0);
  std::signal(SIGURG, before);
}

TEST(ThreadStack, OfAThreadThatBlocksTheSignalIsUnknownAndLeavesTheNextOne) {
  const observed_thread blocks([](const base::atomic<bool>& end) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    call_compute(end);
  });
  while (!stack_of_thread(blocks.id()).frames.empty()) {  // it has not blocked it yet
  }
  const observed_thread t(call_compute);
  while (answers && stack_of_thread(t.id()).frames.empty()) {
  }
}

TEST(ThreadStack, OfAThreadThatHasEndedIsUnknown) {
  pid_t ended = 0;
  std::thread([&ended] { ended = this_thread(); }).join();
  const thread_stack stack = stack_of_thread(ended);
  EXPECT_TRUE(stack.frames.empty());
  EXPECT_FALSE(stack.in_system_call);
}

TEST(FrameNames, HaveNoParameters) {
  EXPECT_EQ(function_name("_Z5relaxRSt6vectorIdSaIdEE"), "relax");
  EXPECT_EQ(function_name("_ZNK4grid4stepEi"), "grid::step");
  EXPECT_EQ(function_name("_Z5relaxi.constprop.0"), "relax");
  EXPECT_EQ(function_name("_ZZ5solvevENKUlvE_clEv"), "solve()::{lambda()#1}::operator()");
  EXPECT_EQ(function_name("dgemm_"), "dgemm_");
  EXPECT_EQ(function_name("f"), "f");  // not a type
}

TEST(FrameNames, TheInnermostFunctionHasANameIfAnyHas) {
  const std::uintptr_t stub = getauxval(AT_PHDR);  // an address in the program, of no function
  const auto function = reinterpret_cast<std::uintptr_t>(&call_compute) + 1;
  EXPECT_THAT(names_of({stub, function}, 8).innermost, testing::EndsWith("::call_compute"));
  EXPECT_THAT(names_of({stub}, 8).innermost, testing::StartsWith("the program+0x"));
}

TEST(FrameNames, LeaveOutCodeThatWasGenerated) {
  EXPECT_TRUE(names_of({16}, 8).frames.empty());
  EXPECT_TRUE(names_of({16}, 8).innermost.empty());
}

}  // namespace
}  // namespace apgas::scheduler
