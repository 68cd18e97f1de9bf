// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>

// What a suspended task waits for, for the reports of the watchdog. The record lies in the frame of
// the waiting function, so that it exists exactly while the task waits, and a path that does not
// suspend stores nothing.
namespace apgas::inline v0::scheduler {

struct fiber;

// The line of a call. In a public function that may suspend, the last parameter is
// `call_site where = call_site::current()`; the caller passes one register.
using call_site = std::source_location;

// An object that tasks wait for, as reports name it.
struct waited_object {
  const void* address = nullptr;
  const char* kind = "";    // a static text, such as "clock"
  call_site made{};         // where the program made it, if the object knows
  std::int64_t phase = -1;  // the phase that is not complete; -1: the object has no phases
  int place = -1;           // of a call: the place that runs it; -1: the object is no call
};

// Which task can let an object go on.
enum class releaser : std::uint8_t {
  this_task,        // nobody but the needed task, so the edge is true as long as that task waits
  perhaps_another,  // usually that task, but others may, as they may unlock a mutex
};

// Receives the edges of the wait-for graph: which object cannot go on before which task has. Used
// while all workers sleep, so that no task begins, goes on or ends, or while the tasks whose edges
// are reported are kept from going on. But messages may arrive, and other threads may run: a phase
// may advance, a mutex may be unlocked, a value may come. The functions that report edges must not
// fail then; at worst they report an edge that is out of date.
class wait_explainer {
 public:
  wait_explainer() = default;
  wait_explainer(const wait_explainer&) = delete;
  wait_explainer& operator=(const wait_explainer&) = delete;

  // The tasks that wait for `object` need the task on `needed` to go on. `relation` is a static
  // text that continues a sentence about that task, such as "has locked". Throws: std::bad_alloc.
  virtual void needs(const waited_object& object, const fiber& needed, const char* relation,
                     releaser by) = 0;
  // Describes the object that the task waits for whose edges are reported, if it is this object.
  // `mode` is a static text that says how the task is registered on it; empty: there are no modes.
  // `awaited` is the phase that the task waits for, if it does; -1: the object has no phases.
  virtual void describe(const waited_object& object, const char* mode,
                        std::int64_t awaited) noexcept = 0;
  // Whether the caller is to report the tasks without a record that wait at `node`, which cannot go
  // on before a needed task has; and such a task. Asked only while other tasks run: while all
  // workers sleep, these tasks are found like all others. Throws: std::bad_alloc.
  virtual bool wants_parked(const void* node) = 0;
  virtual void parked(fiber& waiting) = 0;

 protected:
  ~wait_explainer() = default;
};

struct wait_record {
  using explain_function = void (*)(const wait_record& self, wait_explainer& to);

  // A text alone is a record, too: no more is known then.
  wait_record(const char* what, const void* waited_for = nullptr, call_site at = {},
              explain_function edges = nullptr) noexcept
      : construct(what), object(waited_for), where(at), explain(edges) {}

  const char* construct;     // a static text; null: the task is not reported
  const void* object;        // null: unknown
  call_site where;           // line 0: unknown
  explain_function explain;  // reports the edges that only the object knows; may be null
  bool timed = false;        // the wait ends at a certain time at the latest
};

}  // namespace apgas::inline v0::scheduler
