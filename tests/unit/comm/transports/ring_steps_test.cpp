// SPDX-License-Identifier: Apache-2.0

// A child process executes a send or a receive through a ring one instruction after the other. A
// process that is killed there leaves the shared memory as it is after that instruction, so each
// time the other side looks at it here: it must find all of a message or nothing of it, and
// positions that can be. A wrong one would end this test.

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/base/sanitizer.hpp>

// Instrumented code has too many instructions, and on other processors single steps do not pass
// through atomic operations.
#if defined(__x86_64__) && !APGAS_SANITIZED

#include "host_segment.hpp"
#include "ring_receiver.hpp"
#include "ring_sender.hpp"

namespace {

using namespace apgas::comm;
using apgas::base::relaxed;

constexpr std::uint64_t the_run = 1;
constexpr std::size_t index_of_ring = 1;
constexpr std::size_t long_message = 17'000;  // two records

struct kept_messages final : message_sink {
  void on_message(rank, buffer message) noexcept override {
    all.insert(all.end(), message.data(), message.data() + message.size());
  }
  std::vector<std::byte> all;
};

// Both sides of one ring. A child process has a copy of them, and the same memory.
struct ring {
  void send_frame() {
    frame_header header;
    header.length = static_cast<std::uint32_t>(payload.size());
    sender.write(header, payload, the_run);
    static_cast<void>(sender.advance(the_run));  // if the frame was joined
  }
  void send_long_message() {
    buffer message = pool.get(long_message);
    std::fill_n(message.data(), long_message, std::byte{7});
    message.resize(long_message);
    sender.send(std::move(message), the_run);
  }
  ring_positions& positions() const { return segment.memory().positions(index_of_ring); }
  std::uint64_t written() const { return positions().written & ~std::uint64_t{7}; }

  const std::vector<std::byte> payload = std::vector<std::byte>(24, std::byte{7});
  std::string why_not;
  own_segment segment{2, why_not};
  buffer_pool pool;
  apgas::base::lock_owner nobody;
  apgas::base::atomic<std::size_t> queued{0};
  apgas::base::atomic<int> unfinished{0};
  kept_messages sink;
  ring_sender sender{map_segment(segment.offer(), 2, why_not),
                     7,
                     index_of_ring,
                     2,
                     pool,
                     nobody,
                     queued,
                     unfinished};
  ring_receiver receiver{segment.memory(), 7, index_of_ring, 2, pool};
};

// What a receiver finds in a copy of the memory.
std::vector<std::byte> found_in(const ring& original) {
  ring copy;
  const std::span bytes(original.segment.memory().ring(index_of_ring), 2 * long_message);
  std::ranges::copy(bytes, copy.segment.memory().ring(index_of_ring));
  for (std::size_t i = 0; i < copied_words; ++i) {
    copy.positions().copy[i].store(original.positions().copy[i].load(relaxed), relaxed);
  }
  copy.positions().written.store(original.positions().written.load(relaxed), relaxed);
  while (copy.receiver.receive(copy.sink, the_run, the_run)) {
  }
  return copy.sink.all;
}

// Executes the function in a child process, and calls look() after each of its instructions.
// Returns how many there were; 0 if the system permits no tracing.
template <class F, class G>
int step_through(F&& function, G&& look) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    std::raise(SIGSTOP);
    function();
    _exit(0);
  }
  int status = 0;
  int steps = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 0;
  if (!WIFSTOPPED(status)) std::printf("nothing was tested: this system permits no tracing\n");
  for (; WIFSTOPPED(status); ++steps) {
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) return 0;
    if (waitpid(child, &status, 0) != child) return 0;
    look(steps);
  }
  std::printf("%d instructions\n", steps);
  return steps;
}

// `sizes` are the numbers of bytes that a receiver may find while the function sends.
template <class F>
void check_sender(ring& both, const std::vector<std::size_t>& sizes, F&& function) {
  std::vector<std::size_t> found;
  std::uint64_t written = UINT64_MAX;
  const int steps = step_through(function, [&](int step) {
    const std::uint64_t now = both.positions().written;
    if (now == written && step % 512 != 0) return;
    written = now;
    const std::vector<std::byte> bytes = found_in(both);
    EXPECT_TRUE(bytes.empty() || bytes.back() == std::byte{7}) << "after " << step;
    if (found.empty() || found.back() != bytes.size()) found.push_back(bytes.size());
  });
  if (steps != 0) {
    EXPECT_EQ(found, sizes);
  }
}

TEST(RingSteps, ASenderLeavesAFrameWithACopyOrNone) {
  ring both;
  const std::size_t bytes = frame_bytes(both.payload.size());
  ASSERT_LE(bytes, longest_copy);
  check_sender(both, {0, bytes}, [&] { both.send_frame(); });
  const ring_positions& positions = both.positions();
  EXPECT_EQ(positions.written & 7U, tag_of_run(the_run) << 1U | 1U);
  const std::byte* const frame = both.segment.memory().ring(index_of_ring) + sizeof(record_word);
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, frame + 8 * i, sizeof word);
    EXPECT_EQ(positions.copy[i].load(relaxed), word);
  }
}

TEST(RingSteps, ASenderLeavesASecondFrameOrNone) {
  ring both;
  const std::size_t bytes = frame_bytes(both.payload.size());
  both.send_frame();
  check_sender(both, {bytes, 2 * bytes}, [&] { both.send_frame(); });
}

TEST(RingSteps, ASenderLeavesAMessageOfSeveralRecordsOrNone) {
  ring both;
  check_sender(both, {0, long_message}, [&] { both.send_long_message(); });
}

TEST(RingSteps, AReceiverLeavesPositionsThatTheSenderHasWritten) {
  for (const bool several : {false, true}) {
    ring both;
    several ? both.send_long_message() : both.send_frame();
    std::vector<std::uint64_t> found;
    const int steps = step_through(
        [&] {
          static_cast<void>(both.receiver.receive(both.sink, the_run, the_run));
          static_cast<void>(
              both.receiver.receive(both.sink, the_run, the_run));  // releases a single record
        },
        [&](int) {
          const std::uint64_t read = both.positions().read;
          const bool drained = both.sender.drained();
          EXPECT_EQ(drained, read == both.written());
          if (found.empty() || found.back() != read) found.push_back(read);
        });
    if (steps != 0) {
      EXPECT_EQ(found, (std::vector<std::uint64_t>{0, both.written()}));
    }
  }
}

}  // namespace

#endif
