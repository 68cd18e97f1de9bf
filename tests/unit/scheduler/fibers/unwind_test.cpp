// SPDX-License-Identifier: Apache-2.0
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <support/scheduler_fixture.hpp>

#include <apgas/async.hpp>
#include <apgas/yield.hpp>

// Profilers, debuggers and exceptions unwind the stack of a fiber by the call frame information of
// its functions, also that of the switch (perf record --call-graph dwarf). It must lead from the
// innermost function of a task to the task, and end at the begin of the fiber.
namespace apgas::scheduler {
namespace {

struct unwound {
  std::vector<std::uintptr_t> functions;  // where each begins, from the innermost on
  bool ended = false;                     // rather than broken off
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* to) {
  auto& functions = static_cast<unwound*>(to)->functions;
  functions.push_back(_Unwind_GetRegionStart(context));
  return functions.size() < 1'000 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

[[gnu::noinline]] void innermost(unwound& to) {
  to.ended = _Unwind_Backtrace(add_frame, &to) == _URC_END_OF_STACK;
  asm volatile("" ::: "memory");  // not a tail call
}
[[gnu::noinline]] void outer(unwound& to) {
  innermost(to);
  asm volatile("" ::: "memory");
}

void expect_complete(const unwound& stack) {
  EXPECT_TRUE(stack.ended) << stack.functions.size() << " frames";
  const auto inner =
      std::ranges::find(stack.functions, reinterpret_cast<std::uintptr_t>(innermost));
  const auto caller = std::ranges::find(stack.functions, reinterpret_cast<std::uintptr_t>(outer));
  ASSERT_NE(inner, stack.functions.end());
  ASSERT_NE(caller, stack.functions.end());
  EXPECT_EQ(caller - inner, 1);
}

TEST(Unwinding, ReachesTheTaskAndEndsAtTheBeginOfTheFiber) {
  test::task_place place(1);
  unwound stack;
  place.run([&] { finish([&] { async([&] { outer(stack); }); }); });
  expect_complete(stack);
}

TEST(Unwinding, WorksAfterTheTaskWasResumedByAnyWorker) {
  test::task_place place(3);
  std::vector<unwound> stacks(20);
  place.run([&] {
    finish([&] {
      for (unwound& stack : stacks) {
        async([&stack] {
          for (int i = 0; i < 10; ++i) yield();
          outer(stack);
        });
      }
    });
  });
  for (const unwound& stack : stacks) expect_complete(stack);
}

}  // namespace
}  // namespace apgas::scheduler
