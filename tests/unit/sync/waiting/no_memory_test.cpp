// SPDX-License-Identifier: Apache-2.0

// A wait with a time limit for which there is no memory throws std::bad_alloc and has no effect.
// The program replaces operator new, so that it can refuse memory once.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

#include <gtest/gtest.h>

#include <apgas/channel.hpp>
#include <apgas/condition_variable.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/promise.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/shared_mutex.hpp>
#include <apgas/single_var.hpp>
#include <apgas/sync_var.hpp>

#include "support/scheduler_fixture.hpp"

namespace {

std::atomic<bool> refuse_next{false};

void* memory_or_refusal(std::size_t bytes, std::size_t alignment) {
  if (refuse_next.exchange(false)) throw std::bad_alloc();
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return memory_or_refusal(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return memory_or_refusal(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace std::chrono_literals;

// Calls wait() without memory for its timer.
template <class F>
void expect_no_memory(F wait) {
  refuse_next = true;
  EXPECT_THROW(static_cast<void>(wait()), std::bad_alloc);
  refuse_next = false;
}

TEST(NoMemory, AMutexStaysAsItIs) {
  apgas::test::run_tasks(1, [] {
    apgas::mutex m;
    m.lock();
    expect_no_memory([&] { return m.try_lock_for(1h); });
    m.unlock();
    EXPECT_TRUE(m.try_lock());

    std::unique_lock hold(m, std::adopt_lock);
    apgas::condition_variable changed;
    expect_no_memory([&] { return changed.wait_for(hold, 1h); });
    EXPECT_TRUE(hold.owns_lock());
    EXPECT_FALSE(m.try_lock()) << "the mutex was not released";
    changed.notify_one();

    apgas::shared_mutex shared;
    shared.lock();
    expect_no_memory([&] { return shared.try_lock_for(1h); });
    expect_no_memory([&] { return shared.try_lock_shared_for(1h); });
    shared.unlock();
    EXPECT_TRUE(shared.try_lock());
    shared.unlock();
  });
}

TEST(NoMemory, PermitsAndValuesStayAsTheyAre) {
  apgas::test::run_tasks(1, [] {
    apgas::semaphore permits(0);
    expect_no_memory([&] { return permits.try_acquire_for(1h); });
    permits.release();
    EXPECT_TRUE(permits.try_acquire());

    apgas::latch l(1);
    expect_no_memory([&] { return l.try_wait_for(1h); });
    l.count_down();

    apgas::channel<int> c(1);
    expect_no_memory([&] { return c.try_receive_for(1h); });
    c.send(1);
    expect_no_memory([&] { return c.try_send_for(2, 1h); });
    EXPECT_EQ(c.receive(), 1);
    EXPECT_FALSE(c.try_receive());

    apgas::sync_var<int> v;
    expect_no_memory([&] { return v.try_read_fe_for(1h); });
    v.write_ef(1);
    EXPECT_TRUE(v.is_full());
    expect_no_memory([&] { return v.try_write_ef_for(2, 1h); });
    EXPECT_EQ(v.read_fe(), 1);

    const apgas::promise<int> p;
    expect_no_memory([&] { return p.get_future().wait_for(1h); });
    p.set_value(1);
    apgas::single_var<int> once;
    expect_no_memory([&] { return once.try_read_ff_for(1h); });
    once.write_ef(1);
  });
}

}  // namespace
