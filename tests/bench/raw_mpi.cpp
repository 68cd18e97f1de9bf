// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "raw_mpi.hpp"

#if defined(BENCH_MPI)
#include <mpi.h>
#endif

namespace bench {

#if defined(BENCH_MPI)

namespace {

bool places_in_one_process() {
  const char* transport = std::getenv("APGAS_TRANSPORT");
  return transport != nullptr && std::string_view(transport) == "local";
}

}  // namespace

raw_mpi::raw_mpi(int argc, char** argv) {
  if (places_in_one_process()) return;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &processes_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
}

raw_mpi::~raw_mpi() {
  if (there()) MPI_Finalize();
}

double raw_mpi::ping_pong(std::size_t bytes, int rounds) const {
  std::vector<std::byte> data(bytes);
  const auto count = static_cast<int>(bytes);
  const int other = 1 - rank_;
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, other, 0, nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    if (first()) MPI_Send(data.data(), count, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(data.data(), count, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first()) MPI_Send(data.data(), count, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void raw_mpi::sleep_until_all_call() const {
  if (!there()) return;
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  int done = 0;
  while (MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), done == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

#else

raw_mpi::raw_mpi(int, char**) {}
raw_mpi::~raw_mpi() = default;
double raw_mpi::ping_pong(std::size_t, int) const { return 0; }
void raw_mpi::sleep_until_all_call() const {}

#endif

}  // namespace bench
