// SPDX-License-Identifier: Apache-2.0

// A place that gets a frame which no correct peer sends ends the job, with one line that names the
// sender. The other place of these tests is an endpoint, which sends what it is told.

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/apgas.hpp>
#include <apgas/comm/task_list.hpp>
#include <apgas/places/allocation.hpp>
#include <apgas/places/memory_atomics.hpp>
#include <apgas/places/message_access.hpp>

#include "support/place_and_peer.hpp"

namespace {

using namespace apgas;
using comm::frame_header;
using comm::frame_kind;

void no_task() {}
scheduler::task_counter* a_task(sync::remote_task&, scheduler::fiber&) { return nullptr; }

// Place 0 of two runs, and place 1 sends it that frame.
void receive(const frame_header& header, const std::vector<std::byte>& payload = {},
             bool profiled = false) {
  test::place_and_peer two(profiled);
  two.place.run_main([&] {
    two.peer.send(0, header, payload);
    sleep_for(std::chrono::seconds(20));
    return 0;
  });
}

template <class... Ts>
std::vector<std::byte> bytes_of(const Ts&... values) {
  std::vector<std::byte> all((sizeof values + ...));
  std::byte* at = all.data();
  ((std::memcpy(at, &values, sizeof values), at += sizeof values), ...);
  return all;
}

constexpr std::uint64_t control_of_memory(int operation) {
  return sync::control_memory | static_cast<std::uint64_t>(operation);
}

TEST(bad_frames_death, of_the_profile_of_work_and_span) {
  constexpr std::uint64_t one = 1;
  const auto profiled = [](std::uint64_t operation, const std::vector<std::byte>& payload) {
    receive({.kind = frame_kind::control, .handler = operation}, payload, true);
  };
  const char* const no_path = "place 1 sent a frame without the path of the profile";
  EXPECT_DEATH(profiled(sync::control_flow, {}), no_path);
  EXPECT_DEATH(profiled(sync::control_flow, bytes_of(one, one)), no_path);    // too few words
  EXPECT_DEATH(profiled(sync::control_flow, bytes_of(one * 1000)), no_path);  // more than come
  EXPECT_DEATH(profiled(launch::control_span_part, bytes_of(one, one - one)),
               "place 1 sent a malformed part of the profile of work and span");
  EXPECT_DEATH(receive({.kind = frame_kind::control, .handler = launch::control_span_part}),
               "place 1 sent a control frame with the unknown operation 0x2");
}

TEST(bad_frames_death, of_a_finish) {
  constexpr sync::finish_id ended = 77;
  constexpr sync::finish_id of_place_1 = (sync::finish_id{1} << sync::finish_number_bits) + 5;
  const auto finish = [](std::uint64_t operation, sync::finish_id id) {
    return frame_header{.kind = frame_kind::finish, .handler = operation, .finish = id};
  };
  EXPECT_DEATH(receive(finish(99, sync::root_finish)),
               "place 1 sent a frame of a finish with the unknown operation 99");
  EXPECT_DEATH(receive(finish(1, sync::root_finish)),
               "place 1 sent a malformed return of 0 bytes for a finish");
  EXPECT_DEATH(receive(finish(1, ended), std::vector<std::byte>(64)),
               "place 1 sent a frame of finish 77 of place 0, which has ended here");
  EXPECT_DEATH(receive(finish(1, of_place_1), std::vector<std::byte>(64)),
               "place 1 sent a frame of finish 5 of place 1, which");
  for (const std::uint64_t operation : {2, 3, 4}) {
    EXPECT_DEATH(receive(finish(operation, operation == 2 ? ended : of_place_1)),
                 "place 1 sent a frame of finish (77|5) of place [01], which");
  }
}

TEST(bad_frames_death, of_a_task) {
  const auto task = [](comm::handler_id handler, sync::finish_id id) {
    return frame_header{.kind = frame_kind::task, .handler = handler, .finish = id, .credit = 1};
  };
  const comm::handler_id good = comm::id_of<a_task>();
  EXPECT_DEATH(receive(task(good, sync::root_finish)), "place 1 sent a malformed task frame");
  EXPECT_DEATH(receive(task(comm::id_of<no_task>(), sync::root_finish), bytes_of(std::uint64_t{0})),
               "place 1 sent a malformed task frame");
  EXPECT_DEATH(receive(task(1234, sync::root_finish), bytes_of(std::uint64_t{0})),
               "a message from rank 1 is malformed: no handler 0x4d2 in this program");
  EXPECT_DEATH(receive(task(good, 77), bytes_of(std::uint64_t{0})),
               "place 1 sent a frame of finish 77 of place 0, which");
  EXPECT_DEATH(
      receive(task(good, (sync::finish_id{900} << sync::finish_number_bits) + 1), bytes_of(0L)),
      "place 1 sent a frame of finish 1 of place 900, which");
}

// Only spawns share a frame. A list of other tasks passes the checks of the endpoint.
TEST(bad_frames_death, of_several_tasks) {
  frame_header tasks{.kind = frame_kind::tasks,
                     .flags = sync::flag_spawn,
                     .handler = comm::id_of<a_task>(),
                     .finish = sync::root_finish,
                     .credit = 1};
  const std::vector<std::byte> list = bytes_of(0L, 1L, 2L, comm::task_list{2, 8});
  const auto refused = "place 1 sent a malformed frame of tasks";
  tasks.flags = 0;
  EXPECT_DEATH(receive(tasks, list), refused);
  tasks.flags = sync::flag_spawn | sync::flag_registered;
  EXPECT_DEATH(receive(tasks, list), refused);
  tasks.flags = sync::flag_spawn;
  tasks.handler = comm::id_of<no_task>();
  EXPECT_DEATH(receive(tasks, list), refused);
}

TEST(bad_frames_death, of_a_call) {
  EXPECT_DEATH(receive({.kind = frame_kind::reply, .handler = 123}),
               "place 1 sent a reply to a call that no task waits for");
}

TEST(bad_frames_death, of_a_clock) {
  const auto phase = [](std::uint64_t what) {
    return frame_header{
        .kind = frame_kind::control, .handler = sync::control_phase | what, .finish = 0x4321};
  };
  EXPECT_DEATH(receive(phase(77)), "place 1 sent a frame of a clock with the unknown operation 77");
  EXPECT_DEATH(receive(phase(0)), "place 1 sent a frame of a clock with the unknown operation 0");
  for (const std::uint64_t operation : {1, 2, 4, 5, 7, 8, 9, 10}) {
    EXPECT_DEATH(receive(phase(operation)),
                 "place 1 sent a frame for clock 0x4321 with operation [0-9]+: the clock has");
  }
}

TEST(bad_frames_death, of_a_team) {
  EXPECT_DEATH(receive({.kind = frame_kind::control, .handler = remote::control_team}),
               "place 1 sent a malformed team message of 0 bytes");
}

TEST(bad_frames_death, of_memory) {
  const auto memory = [](int operation) {
    return frame_header{.kind = frame_kind::control, .handler = control_of_memory(operation)};
  };
  const remote::allocation_name block{};
  const char* const none = "place 1 sent a malformed memory request of [0-9]+ bytes";
  for (const int operation : {1, 2, 3, 4}) EXPECT_DEATH(receive(memory(operation)), none);
  EXPECT_DEATH(receive(memory(77), bytes_of(block)), none);
  EXPECT_DEATH(receive(memory(3), bytes_of(block)), none);  // how many bytes
  EXPECT_DEATH(receive(memory(4), bytes_of(block)), none);  // which operation
  remote::atomic_request unknown;
  std::memset(static_cast<void*>(&unknown), 0x7f, sizeof unknown);
  EXPECT_DEATH(receive(memory(4), bytes_of(block, unknown)), none);
}

TEST(bad_frames_death, of_the_launch) {
  EXPECT_DEATH(receive({.kind = frame_kind::control, .handler = 0}),
               "place 1 sent a control frame with the unknown operation 0");
  EXPECT_DEATH(receive({.kind = frame_kind::control, .handler = 5}),
               "place 1 sent a control frame with the unknown operation 0x5");
  EXPECT_DEATH(receive({.kind = frame_kind::control, .handler = 1}),
               "place 1 sent the end of the run, which is not for it to say");
}

}  // namespace
