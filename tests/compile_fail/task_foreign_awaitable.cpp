// SPDX-License-Identifier: Apache-2.0
// A coroutine of a task awaits an object that the runtime does not know.
#include <coroutine>

#include <apgas/apgas.hpp>

apgas::task<> slip() {
#ifdef APGAS_TEST_CONTROL
  co_await apgas::async_future([] {});
#else
  co_await std::suspend_always();
#endif
}
