// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/future.hpp>
#include <apgas/places/remote_future.hpp>

// Tasks at other places whose results are futures.
namespace apgas::inline v0 {

// Spawns f(args...) as a task at place p and returns the future of its result (Habanero's async
// with a future, at a place). `f`, `args` and the result must be sendable (at.hpp). The innermost
// enclosing finish waits for the task, and for all tasks that it spawns.
//
//   const auto sum = apgas::async_future_at(p, [](int to) { return add_up(to); }, 100);
//   use(sum.get());
//
// Throws: serialization_error; what copying an argument throws; illegal_operation inside a critical
// section or outside a task. What f throws goes to the future.
// Context: task, not inside `atomic` or `when`; may suspend, and resume on another worker, while p
// has not yet started enough of the tasks sent to it (flow control).
// Cost: one message each way, and two allocations.
template <class F, class... Args>
auto async_future_at(sync::spawn_from<place> p, F&& f, Args&&... args)
    -> future<std::decay_t<typename remote::remote_body<F, Args...>::result>> {
  using body_type = remote::remote_body<F, Args...>;
  using result = std::decay_t<typename body_type::result>;
  scheduler::fiber& self = sync::suspendable_fiber("async_future_at");
  comm::out_archive out;
  auto call = std::make_unique<remote::remote_future<result>>(self, p.site);
  auto made = call->get_future();
  auto* const sent = call.release();  // the call deletes itself from here on
  try {
    sync::start_payload(out, p.site);
    out(sent->number());
    body_type::save(out, f, args...);
    sync::send_task(self, p.value.id(),
                    comm::id_of<&remote::run_remote_call<remote::reply_with_value, F, Args...>>(),
                    out);
  } catch (...) {
    sent->cancel();
    throw;
  }
  return made;
}

}  // namespace apgas::inline v0
