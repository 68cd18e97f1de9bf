// SPDX-License-Identifier: Apache-2.0
// A runtime beside a user's own MPI. Run under mpirun with the name of a thread level; exits with 0
// if it went as it should.
#include <cstdio>
#include <string>

#include <mpi.h>

#include <apgas/apgas.hpp>

namespace {

bool expect(bool condition, const char* text) {
  if (!condition) std::fprintf(stderr, "failed: %s\n", text);
  return condition;
}

// The level is not enough: every place gets the reason and the remedy, and MPI is still the user's.
bool refused() {
  int level = 0;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return true;  // the library gave more than it was asked for
  std::string what;
  try {
    const apgas::runtime runtime;
  } catch (const apgas::launch_error& failure) {
    what = failure.what();
  }
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return expect(what.find("MPI was initialised with MPI_THREAD_FUNNELED") != std::string::npos,
                "what was found") &&
         expect(what.find("MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) before "
                          "apgas::run or apgas::runtime") != std::string::npos,
                "what to do") &&
         expect(sum == 2, "MPI_Allreduce after the refusal");
}

// Runtimes use it and leave it running.
bool used() {
  for (int i = 0; i < 3; ++i) {
    apgas::runtime runtime;
    if (runtime.place_id() == 0) {
      const int there =
          runtime.run([] { return apgas::at(apgas::place(1), [] { return apgas::here().id(); }); });
      if (!expect(there == 1, "a task at place 1")) return false;
      runtime.stop(i);
    } else if (!expect(runtime.serve() == i, "the code of place 0")) {
      return false;
    }
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!expect(sum == 2, "MPI_Allreduce between runtimes")) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool serialized = argc > 1 && std::string(argv[1]) == "serialized";
  int level = 0;
  MPI_Init_thread(&argc, &argv, serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED, &level);
  const bool passed = serialized ? used() : refused();
  MPI_Finalize();
  return passed ? 0 : 1;
}
