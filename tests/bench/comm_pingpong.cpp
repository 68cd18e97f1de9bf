// SPDX-License-Identifier: Apache-2.0

// What an endpoint costs on top of MPI, measured between two ranks of one run, alternating with
// MPI:
//
//   mpirun -n 2 comm_pingpong [rounds] [frames]
//
//   mpi_us, endpoint_us     one way of an 8-byte ping-pong, by MPI_Send/MPI_Recv and by frames
//   mpi_mps, frames_mps     8-byte messages per second in one direction: by MPI_Isend into posted
//                           MPI_Irecvs, with a window of 64; and by frames, which are batched
// Prints one JSON object with the minimum and the median of the repetitions.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>

namespace comm = apgas::comm;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr int repetitions = 15;

struct counting_sink final : comm::frame_sink {
  std::uint64_t frames = 0;
  std::uint64_t sum = 0;
  void on_frame(const comm::inbound_frame& frame) noexcept override {
    std::uint64_t value = 0;
    std::memcpy(&value, frame.payload.data(), sizeof(value));
    sum += value;
    ++frames;
  }
};

struct series {
  std::vector<double> values;
  double minimum() const { return *std::ranges::min_element(values); }
  double maximum() const { return *std::ranges::max_element(values); }
  double median() {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
};

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

double mpi_pingpong(int here, int rounds) {
  std::uint64_t value = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = clock_type::now();
  for (int i = 0; i < rounds; ++i) {
    if (here == 0) MPI_Send(&value, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 8, MPI_BYTE, 1 - here, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (here == 1) MPI_Send(&value, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return seconds_since(start) / rounds / 2 * 1e6;
}

double mpi_rate(int here, int frames) {
  constexpr int window = 64;
  std::vector<std::uint64_t> values(window);
  std::vector<MPI_Request> requests(window);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = clock_type::now();
  for (int sent = 0; sent < frames; sent += window) {
    for (int i = 0; i < window; ++i) {
      auto* value = &values[static_cast<std::size_t>(i)];
      auto* request = &requests[static_cast<std::size_t>(i)];
      if (here == 0) {
        MPI_Isend(value, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, request);
      } else {
        MPI_Irecv(value, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, request);
      }
    }
    MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return frames / seconds_since(start) / 1e6;
}

struct peer {
  comm::endpoint& endpoint;
  counting_sink& sink;

  void send(std::uint64_t value) {
    comm::frame_header header;
    header.kind = comm::frame_kind::control;
    endpoint.send(1 - endpoint.here(), header, std::as_bytes(std::span(&value, 1)));
  }
  void wait_for(std::uint64_t frames) {
    while (sink.frames < frames) endpoint.progress();
  }
};

double frame_pingpong(peer& with, int rounds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = clock_type::now();
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t expected = with.sink.frames + 1;
    if (with.endpoint.here() == 0) with.send(1);
    with.wait_for(expected);
    if (with.endpoint.here() == 1) with.send(1);
  }
  const double result = seconds_since(start) / rounds / 2 * 1e6;
  while (with.endpoint.network().unsent_bytes() != 0) with.endpoint.progress();
  return result;
}

// The sender polls now and then, as a worker does between tasks, and obeys the back-pressure.
double frame_rate(peer& with, int frames) {
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t expected = with.sink.frames + static_cast<std::uint64_t>(frames);
  const std::uint64_t answer = with.sink.frames + 1;
  const auto start = clock_type::now();
  if (with.endpoint.here() == 0) {
    for (int i = 0; i < frames; ++i) {
      with.send(static_cast<std::uint64_t>(i));
      if (i % 256 == 0) {
        do {
          with.endpoint.progress();
        } while (with.endpoint.congested(1));
      }
    }
    with.endpoint.flush();
    while (with.endpoint.network().unsent_bytes() != 0) with.endpoint.progress();
    with.wait_for(answer);
  } else {
    with.wait_for(expected);
    with.send(0);
    while (with.endpoint.network().unsent_bytes() != 0) with.endpoint.progress();
  }
  return frames / seconds_since(start) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5'000;
  const int frames = argc > 2 ? std::atoi(argv[2]) : 2'000'000;
  comm::transport& network = comm::make_mpi_transport();
  if (network.size() != 2 || rounds < 1 || frames < 1) {
    fmt::print(stderr, "usage: mpirun -n 2 comm_pingpong [rounds] [frames]\n");
    return 2;
  }
  counting_sink sink;
  comm::endpoint_options options;
  options.queue_bytes = std::size_t{1} << 20;
  comm::endpoint endpoint(network, sink, options);
  endpoint.wait_ready();
  peer with{endpoint, sink};

  series raw_us, frame_us, raw_mps, frame_mps;
  for (int i = 0; i < repetitions; ++i) {
    raw_us.values.push_back(mpi_pingpong(network.here(), rounds));
    frame_us.values.push_back(frame_pingpong(with, rounds));
    raw_mps.values.push_back(mpi_rate(network.here(), frames / 10));
    frame_mps.values.push_back(frame_rate(with, frames));
  }
  const comm::traffic total = endpoint.total_traffic();
  endpoint.begin_end();
  while (!endpoint.end_done()) endpoint.progress();
  if (network.here() == 0) {
    fmt::print(R"({{"bench": "comm_pingpong", "mpi_us": [{:.3f}, {:.3f}], )"
               R"("endpoint_us": [{:.3f}, {:.3f}], "mpi_mps": [{:.2f}, {:.2f}], )"
               R"("frames_mps": [{:.2f}, {:.2f}], "frames_per_message": {:.1f}}})"
               "\n",
               raw_us.minimum(), raw_us.median(), frame_us.minimum(), frame_us.median(),
               raw_mps.maximum(), raw_mps.median(), frame_mps.maximum(), frame_mps.median(),
               static_cast<double>(total.frames_sent) / static_cast<double>(total.messages_sent));
  }
  return 0;
}
