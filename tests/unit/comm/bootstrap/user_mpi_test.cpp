// SPDX-License-Identifier: Apache-2.0

// The mpi transport in a program that uses MPI itself, and at the end of a process. Run under
// mpirun with the name of a case; exits with 0 if the case succeeds.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <mpi.h>

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

namespace comm = apgas::comm;

namespace {

struct counting_sink final : comm::frame_sink {
  int frames = 0;
  void on_frame(const comm::inbound_frame&) noexcept override { ++frames; }
};

void require(bool condition, const char* text) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", text);
  std::_Exit(1);
}

void start_mpi(int level) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
}

std::string message_of_failed_start() {
  try {
    comm::make_mpi_transport();
  } catch (const apgas::launch_error& e) {
    return e.what();
  }
  return "";
}

void one_run(counting_sink& sink) {
  comm::transport& network = comm::make_mpi_transport();
  comm::endpoint here(network, sink);
  here.wait_ready();
  here.send(1 - here.here(), comm::frame_header{}, std::span<const std::byte>{});
  here.begin_end();
  while (!here.end_done()) here.progress();
}

// The transport uses the user's MPI, leaves it running, and does not disturb it.
int serialized() {
  start_mpi(MPI_THREAD_SERIALIZED);
  counting_sink sink;
  for (int run = 0; run < 3; ++run) {
    one_run(sink);
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == 2, "MPI_Allreduce between runs");
  }
  require(sink.frames == 3, "one frame each run");
  require(comm::mpi_running(), "MPI is left running");
  MPI_Finalize();
  require(!comm::mpi_running(), "MPI is finalized");
  return 0;
}

int funneled() {
  start_mpi(MPI_THREAD_FUNNELED);
  int level = 0;
  MPI_Query_thread(&level);
  const std::string what = message_of_failed_start();
  if (level < MPI_THREAD_SERIALIZED) {
    require(what.find("MPI_THREAD_FUNNELED") != std::string::npos,
            "the message names the level found");
    require(what.find("MPI_Init_thread") != std::string::npos, "the message names the remedy");
  }
  MPI_Finalize();
  return 0;
}

int finalized() {
  start_mpi(MPI_THREAD_SERIALIZED);
  counting_sink sink;
  one_run(sink);
  MPI_Finalize();
  require(message_of_failed_start().find("has been finalized") != std::string::npos,
          "the message after MPI_Finalize");
  return 0;
}

// The next two end the job with a message and an exit code that is not 0.
int exit_in_run() {
  static counting_sink sink;
  static comm::endpoint* here = new comm::endpoint(comm::make_mpi_transport(), sink);
  here->wait_ready();
  std::exit(0);
}

int finalize_in_run() {
  start_mpi(MPI_THREAD_SERIALIZED);
  static counting_sink sink;
  static comm::endpoint* here = new comm::endpoint(comm::make_mpi_transport(), sink);
  here->wait_ready();
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "serialized") return serialized();
  if (name == "funneled") return funneled();
  if (name == "finalized") return finalized();
  if (name == "exit_in_run") return exit_in_run();
  if (name == "finalize_in_run") return finalize_in_run();
  std::fprintf(stderr, "which case?\n");
  return 2;
}
