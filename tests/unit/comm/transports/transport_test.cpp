// SPDX-License-Identifier: Apache-2.0

// Endpoints over each transport, with real concurrency. Under mpirun each rank is a process; with
// APGAS_TRANSPORT=local and APGAS_PLACES each rank is a thread of this process. All ranks run the
// same tests.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/sanitizer.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

namespace {

using namespace apgas::comm;

// Runs `body`, with rings of shared memory and a delaying transport if the environment asks for
// them.
void with_delays(transport& network, const std::function<void(transport&)>& body) {
  const auto rings = rings_for_tests(network);
  transport& inside = rings ? *rings : network;
  const auto delayed = delayed_for_tests(inside);
  body(delayed ? *delayed : inside);
}

// Runs `body` at every rank with its transport.
void at_every_place(const std::function<void(transport&)>& body) {
  const char* const set = std::getenv("APGAS_TRANSPORT");
  const std::string kind = set ? set : "mpi";
  if (kind == "ucx" || kind == "shm") {
    using apgas::base::transport_choice;
    const auto choice = kind == "ucx" ? transport_choice::ucx : transport_choice::shm;
    with_delays(*choose_transport(choice).network, body);
    return;
  }
  if (kind != "local") {
    with_delays(make_mpi_transport(), body);
    return;
  }
  const char* places = std::getenv("APGAS_PLACES");
  local_fabric fabric(places ? std::atoi(places) : 2);
  {
    std::vector<std::jthread> threads;
    for (rank r = 0; r < fabric.size(); ++r) {
      threads.emplace_back([&body, &fabric, r] { with_delays(fabric.at(r), body); });
    }
  }
  EXPECT_EQ(fabric.pool().outstanding(), 0u);
}

// Byte `i` of message `number` from `source`.
std::byte pattern(rank source, std::uint64_t number, std::size_t i) {
  return static_cast<std::byte>((i ^ (i >> 8)) * 7 + number * 13 +
                                static_cast<std::uint64_t>(source));
}

std::string payload_of(rank source, std::uint64_t number, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(pattern(source, number, i));
  return text;
}

// Checks that the frames of each thread (`flags`) of each rank arrive in the order of their numbers
// (`finish`), have the length that `credit` says, and contain the bytes that were written.
struct checking_sink final : frame_sink {
  explicit checking_sink(int size, int threads = 1)
      : next(static_cast<std::size_t>(size * threads)), threads_(threads) {}

  void on_frame(const inbound_frame& frame) noexcept override {
    const auto stream = static_cast<std::size_t>(frame.source * threads_) + frame.header->flags;
    bool good = frame.header->finish == next[stream]++;
    good &= frame.header->credit == frame.payload.size();
    const std::size_t step = frame.payload.size() / 1000 + 1;
    for (std::size_t i = 0; i < frame.payload.size(); i += step) {
      good &= frame.payload[i] == pattern(frame.source, frame.header->finish, i);
    }
    if (!good) ok = false;
    ++frames;
  }

  std::vector<std::uint64_t> next;
  std::atomic<bool> ok{true};
  std::atomic<std::uint64_t> frames{0};

 private:
  int threads_;
};

frame_header numbered(std::uint64_t number, std::size_t size, std::uint8_t thread = 0) {
  frame_header header;
  header.kind = frame_kind::reply;
  header.flags = thread;
  header.finish = number;
  header.credit = size;
  return header;
}

void end(endpoint& here) {
  here.begin_end();
  while (!here.end_done()) {
    if (!here.progress()) std::this_thread::yield();
  }
}

TEST(transport, frames_of_every_size_both_ways) {
  at_every_place([](transport& network) {
    checking_sink sink(network.size());
    endpoint here(network, sink);
    here.wait_ready();
    std::vector<std::size_t> sizes = {0, 1, 7, 8, 100, 4000, 16'320, 16'352, 16'353, 20'000, 3};
    for (const std::size_t large : {100'000, 1 << 20, 4 << 20, 5}) sizes.push_back(large);
    if (network.size() <= 2) sizes.insert(sizes.end(), {std::size_t{64} << 20, 9});
    for (std::uint64_t i = 0; i < sizes.size(); ++i) {
      const std::string payload = payload_of(here.here(), i, sizes[i]);
      for (rank to = 0; to < here.size(); ++to) {
        here.send(to, numbered(i, payload.size()), std::as_bytes(std::span(payload)));
      }
      here.progress();
    }
    const std::uint64_t expected = sizes.size() * static_cast<std::uint64_t>(here.size());
    while (sink.frames < expected) {
      if (!here.progress()) std::this_thread::yield();
    }
    end(here);
    EXPECT_TRUE(sink.ok);
    EXPECT_EQ(sink.frames, expected);
  });
}

// Every rank sends to every other as fast as it can, limited only by back-pressure.
TEST(transport, ranks_flood_each_other) {
  at_every_place([](transport& network) {
    constexpr std::uint64_t frames = 60'000;
    checking_sink sink(network.size());
    endpoint_options options;
    options.queue_bytes = std::size_t{256} << 10;
    endpoint here(network, sink, options);
    here.wait_ready();
    std::size_t most_queued = 0;
    for (std::uint64_t i = 0; i < frames; ++i) {
      const std::size_t size = i % 5 == 0 ? i % 200 : 8;
      const std::string payload = payload_of(here.here(), i, i % 10'007 == 9 ? 50'000 : size);
      for (rank to = 0; to < here.size(); ++to) {
        here.send(to, numbered(i, payload.size()), std::as_bytes(std::span(payload)));
        most_queued = std::max(most_queued, here.queued_bytes(to));
        while (here.congested(to)) {
          if (!here.progress()) std::this_thread::yield();
        }
      }
    }
    end(here);  // delivers the frames in flight
    EXPECT_TRUE(sink.ok);
    EXPECT_EQ(sink.frames, frames * static_cast<std::uint64_t>(here.size()));
    EXPECT_LE(most_queued, (std::size_t{256} << 10) + 60'000 + (std::size_t{32} << 10));
    const traffic total = here.total_traffic();
    EXPECT_EQ(total.frames_sent, total.frames_received);
    // Frames that are sent more slowly than one in about ten microseconds are not batched, which
    // may happen under a sanitizer. Frames that the transport writes count as messages.
    const bool batches = !APGAS_SANITIZED && !network.writes_frames(here.here());
    EXPECT_LT(total.messages_sent, total.frames_sent + (batches ? 0 : 1));
  });
}

// Several threads send while another one makes progress. Only one thread at a time may be inside
// MPI.
TEST(transport, many_threads_send_at_every_place) {
  at_every_place([](transport& network) {
    constexpr std::uint64_t frames = 5'000;
    constexpr int threads = 3;
    checking_sink sink(network.size(), threads);
    endpoint here(network, sink);
    here.wait_ready();
    std::atomic<int> running{threads};
    {
      std::vector<std::jthread> senders;
      for (int t = 0; t < threads; ++t) {
        senders.emplace_back([&, t] {
          for (std::uint64_t i = 0; i < frames; ++i) {
            const std::string payload = payload_of(here.here(), i, i % 500 == 7 ? 30'000 : i % 64);
            for (rank to = 0; to < here.size(); ++to) {
              here.send(to, numbered(i, payload.size(), static_cast<std::uint8_t>(t)),
                        std::as_bytes(std::span(payload)));
            }
            if (i % 256 == 0) std::this_thread::yield();
          }
          --running;
        });
      }
      while (running != 0) {
        if (!here.progress()) std::this_thread::yield();
      }
    }
    end(here);
    EXPECT_TRUE(sink.ok);
    EXPECT_EQ(sink.frames, frames * threads * static_cast<std::uint64_t>(here.size()));
  });
}

// Consecutive runs, in which the ranks are late in turn: frames stay in their run, and buffers are
// returned.
TEST(transport, runs_follow_each_other) {
  at_every_place([](transport& network) {
    std::size_t blocks = 0;
    for (std::uint64_t run = 0; run < 30; ++run) {
      checking_sink sink(network.size());
      endpoint here(network, sink);
      here.wait_ready();
      // Frames are numbered by run, so one of another run would be out of order.
      std::ranges::fill(sink.next, run * 1000);
      for (std::uint64_t i = 0; i < 50; ++i) {
        const std::string payload = payload_of(here.here(), run * 1000 + i, i == 20 ? 40'000 : 9);
        for (rank to = 0; to < here.size(); ++to) {
          here.send(to, numbered(run * 1000 + i, payload.size()),
                    std::as_bytes(std::span(payload)));
        }
      }
      if (run % static_cast<std::uint64_t>(here.size()) ==
          static_cast<std::uint64_t>(here.here())) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      end(here);
      EXPECT_TRUE(sink.ok);
      EXPECT_EQ(sink.frames, 50 * static_cast<std::uint64_t>(here.size()));
      // The pool of mpi belongs to this rank, and the posted receives keep their buffers.
      if (network.name() == "mpi") {
        if (run == 0) blocks = network.pool().outstanding();
        EXPECT_EQ(network.pool().outstanding(), blocks);
      }
    }
  });
}

// Answers are sent from inside the sink. None may wait for a full message.
TEST(transport, questions_and_answers) {
  struct answering_sink final : frame_sink {
    endpoint* here = nullptr;
    std::uint64_t answers = 0;
    std::uint64_t questions = 0;
    void on_frame(const inbound_frame& frame) noexcept override {
      if (frame.header->kind == frame_kind::reply) {
        ++answers;
        return;
      }
      ++questions;
      frame_header header;
      header.kind = frame_kind::reply;
      here->send(frame.source, header, frame.payload);  // sent inside the sink
    }
  };
  at_every_place([](transport& network) {
    answering_sink sink;
    endpoint here(network, sink);
    sink.here = &here;
    here.wait_ready();
    for (std::uint64_t i = 1; i <= 300; ++i) {
      here.send((here.here() + 1) % here.size(), frame_header{}, std::span<const std::byte>{});
      while (sink.answers < i) {
        if (!here.progress()) std::this_thread::yield();
      }
    }
    while (sink.questions < 300) {  // answers must be sent before the end begins
      if (!here.progress()) std::this_thread::yield();
    }
    end(here);
    EXPECT_EQ(sink.answers, 300u);
  });
}

TEST(transport, places_that_disagree_do_not_start) {
  at_every_place([](transport& network) {
    checking_sink sink(network.size());
    endpoint_options options;
    options.fingerprint = network.here() == 0 ? 1 : 2;
    endpoint here(network, sink, options);
    if (network.size() == 1) {
      here.wait_ready();
      EXPECT_EQ(here.host(0).empty(), false);
      end(here);
      return;
    }
    EXPECT_THROW(here.wait_ready(), apgas::launch_error);
  });
}

// The next start may succeed after a failed one.
TEST(transport, starts_again_after_a_failed_start) {
  at_every_place([](transport& network) {
    checking_sink sink(network.size());
    endpoint here(network, sink);
    here.wait_ready();
    EXPECT_TRUE(here.same_node(0, here.size() - 1));
    end(here);
  });
}

}  // namespace
