// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/scheduler/wait_record.hpp>

// A task that can wait without a fiber, as a coroutine does, for reports. Fibers are found in the
// range of all stacks, these tasks in tables of the process. A task enters a table when it waits
// for the first time and leaves it when it ends, so a further wait costs four stores. Without
// memory for the table it is not reported.
//
// All of it costs a coroutine that waits once 25 ns, of 205 ns from its spawn to its end, and 61
// bytes, of 365; a further wait costs 1.5 ns, of 36 ns. On a machine where such a coroutine takes
// 127 ns, and 180 if there are 100,000, the table takes 13 and 22, half of that for its lock.
//
//                  written by                                   read by
//   construct_     the worker on which a wait begins or ends    reports, gdb
//   where_         the worker on which a wait begins            reports, gdb
//   since_s_       the same; a report                           reports
//   state          the worker, before a wait; but name and      reports, gdb
//                  spawn site keep their values
//   a table        worker; under its lock                       reports, under this lock; gdb
//
// Pairs
//   P1  A report that reads a construct sees the line and the state of that wait. If the task has
//       begun another wait in the same construct meanwhile, it may see the line of that one.
namespace apgas::inline v0::scheduler {

struct worker;
class scheduler;
class stackless_task;

// The unused entries form a list: such an entry is twice the number of the next one, plus 1.
struct alignas(base::cache_line_bytes) stackless_table {
  static constexpr std::size_t first_part = 512;  // entries of parts[0]
  static constexpr std::size_t parts_max = 20;    // each has twice as many as the last one

  base::spin_lock lock;
  std::uint32_t used = 0;    // entries that were ever in use
  std::uint32_t unused = 0;  // the first unused one of these, plus 1; 0: there is none
  std::uintptr_t* parts[parts_max] = {};
};
// Workers use the table of their number.
inline constexpr std::size_t stackless_tables_max = 64;
APGAS_API extern stackless_table stackless_tables[stackless_tables_max];

class stackless_task {
 public:
  stackless_task(const stackless_task&) = delete;
  stackless_task& operator=(const stackless_task&) = delete;

  // What the task waits for, if it waits and no worker can let it go on; and the finish that it
  // belongs to, which stays the same from its first wait on. Context: any thread.
  virtual wait_record waits() const noexcept = 0;
  virtual const task_counter* outermost() const noexcept = 0;

  // Calls f(task, construct, where) for each task of the scheduler that waits. No task of the table
  // ends meanwhile. Context: any thread. Throws: what f throws.
  template <class F>
  static void for_each(const scheduler* of, F f) {
    for (stackless_table& table : stackless_tables) {
      const hold_table hold(table);
      std::size_t left = table.used;
      for (std::size_t part = 0; left != 0; ++part) {
        const std::size_t n = std::min(left, stackless_table::first_part << part);
        left -= n;
        for (const std::uintptr_t entry : std::span(table.parts[part], n)) {
          if (entry % 2 != 0) continue;
          stackless_task& t = *reinterpret_cast<stackless_task*>(entry);
          const char* const construct = t.construct_.load(base::acquire);  // P1
          if (construct != nullptr && t.home_ == of)
            f(t, construct, std::bit_cast<call_site>(t.where_.load(base::relaxed)));
        }
      }
    }
  }

  // Returns for how many seconds reports have seen this wait, and notes the time of the first one.
  // `now_s` grows with the time and is not 0. Context: f of for_each().
  std::uint32_t seen_for_s(std::uint32_t now_s) noexcept {
    const std::uint32_t since = since_s_.load(base::relaxed);
    if (since == 0) since_s_.store(now_s, base::relaxed);
    return since == 0 ? 0 : now_s - since;
  }

  task_state state;  // while it waits

  // For debuggers, since the debug information of a program need not have this class: the number of
  // tables, the size of one, the offsets of `used` and `parts` in it, and the number of entries of
  // the first part; the offsets of construct_ and where_, and of the spawn site, the name and the
  // finish in `state`.
  APGAS_API static const std::uint32_t layout[10];

 protected:
  stackless_task() = default;
  ~stackless_task() = default;

  // These surround each wait. Context: worker.
  void begin_wait(worker& on, const wait_record& waits) noexcept {
    where_.store(std::bit_cast<const void*>(waits.where), base::relaxed);
    since_s_.store(0, base::relaxed);
    if (entry_ == 0) enter_table(on);
    construct_.store(waits.construct, base::release);  // P1
  }
  void end_wait() noexcept { construct_.store(nullptr, base::relaxed); }
  // Must be called before the task ends.
  void leave_table() noexcept {
    if (entry_ != 0) leave_it();
  }

  scheduler* home_ = nullptr;  // set before the first wait

 private:
  class hold_table {
   public:
    explicit hold_table(stackless_table& t) noexcept : table_(t) { table_.lock.lock(); }
    hold_table(const hold_table&) = delete;
    hold_table& operator=(const hold_table&) = delete;
    ~hold_table() { table_.lock.unlock(); }

   private:
    stackless_table& table_;
  };

  static std::uintptr_t& entry(stackless_table& table, std::uint32_t number) noexcept;
  void enter_table(const worker& on) noexcept;
  void leave_it() noexcept;

  base::atomic<const char*> construct_{nullptr};  // null: it does not wait
  base::atomic<const void*> where_{nullptr};      // a call_site
  base::atomic<std::uint32_t> since_s_{0};
  // The number of its entry, plus 1, and below it six bits for the number of the table; 0: none.
  std::uint32_t entry_ = 0;
};

}  // namespace apgas::inline v0::scheduler
