// SPDX-License-Identifier: Apache-2.0

// A place that has no memory for an incoming frame ends the job, with one line that has the size
// and the sender of the frame. From then on the test refuses all memory to that place, so also to
// the code that prints the line; place 1 is a thread of the test with an endpoint.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <apgas/apgas.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/places/team_member.hpp>

#include "asked_task.hpp"
#include "support/place_and_peer.hpp"

namespace {

std::atomic<bool> refuse{false};
thread_local bool of_the_test = false;
thread_local int granted = -1;  // how often this thread still gets memory, before it once does not

void* memory_or_refusal(std::size_t bytes, std::size_t alignment) {
  if (!of_the_test && refuse) throw std::bad_alloc();
  if (granted >= 0 && granted-- == 0) throw std::bad_alloc();
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

using namespace apgas;
using comm::frame_header;
using comm::frame_kind;

scheduler::task_counter* a_task(sync::remote_task&, scheduler::fiber&) { return nullptr; }

// Place 0 is idle when place 1 sends it that frame.
void receive_without_memory(const frame_header& header, std::size_t payload_bytes = 1000) {
  using namespace std::chrono_literals;
  test::place_and_peer two;
  std::thread sender([&] {
    of_the_test = true;
    std::this_thread::sleep_for(200ms);
    refuse = true;
    two.peer.send(0, header, std::vector<std::byte>(payload_bytes));
    std::this_thread::sleep_for(20s);
  });
  two.place.run_main([] {
    sleep_for(20s);
    return 0;
  });
  sender.join();
}

std::string expected(const std::string& bytes = "10[0-9][0-9]") {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return "no memory for a message of " + bytes + " bytes from place 1 on " + std::string(host) +
         "; start fewer places on the host, send less at once, or raise the limit";
}

// The message fills its buffer, so the record of the task needs memory of its own.
TEST(no_memory_death, for_a_task) {
  const std::size_t payload = comm::buffer_pool::medium_bytes - sizeof(frame_header) - 8;
  for (const std::uint8_t flags : {std::uint8_t{0}, std::uint8_t{sync::flag_spawn}}) {
    EXPECT_DEATH(receive_without_memory({.kind = frame_kind::task,
                                         .flags = flags,
                                         .handler = comm::id_of<a_task>(),
                                         .finish = sync::root_finish,
                                         .credit = 1},
                                        payload),
                 expected("24[0-9][0-9]"));
  }
}

TEST(no_memory_death, for_results_of_a_finish) {
  EXPECT_DEATH(receive_without_memory(
                   {.kind = frame_kind::finish, .handler = 1, .finish = sync::root_finish}),
               expected());
}

TEST(no_memory_death, for_a_clock) {
  EXPECT_DEATH(
      receive_without_memory({.kind = frame_kind::control, .handler = sync::control_phase | 1}),
      expected());
}

TEST(no_memory_death, for_a_team) {
  EXPECT_DEATH(receive_without_memory(
                   {.kind = frame_kind::control, .handler = remote::control_team, .finish = 99}),
               expected());
}

TEST(no_memory_death, for_an_answer) {
  EXPECT_DEATH(
      receive_without_memory({.kind = frame_kind::control, .handler = sync::control_memory | 2}),
      expected());
}

TEST(no_memory, for_a_thread_of_the_library_that_starts) {
  std::thread([] {
    granted = 0;
    const base::own_thread counts;
    EXPECT_EQ(granted, 0) << "it has asked for memory";
    granted = -1;
  }).join();
}

// Nobody waits for a task that there was no memory for.
TEST(no_memory, for_a_question) {
  using namespace std::chrono_literals;
  char name[] = "test";
  char* arguments[] = {name, nullptr};
  run(1, arguments, [] {
    launch::asked_task<int> question(sync::place_of(sync::task_fiber("a test")), [] { return 7; });
    std::thread asks([&] {
      granted = 1;  // for the question, but not for the task
      EXPECT_THROW(static_cast<void>(question.ask(1s)), std::bad_alloc);
      EXPECT_EQ(question.ask(60s), 7);
      question.close();
    });
    blocking([&] { asks.join(); });
  });
}

}  // namespace
