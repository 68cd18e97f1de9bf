// SPDX-License-Identifier: Apache-2.0

// MPI in the life of the process: started at most once, ended at exit by whoever started it.
//
// What must happen before MPI ends hangs on MPI_COMM_SELF as an attribute: MPI_Finalize deletes
// attributes first, whoever calls it.

#include <cstdlib>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/log.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

#include "mpi_wire.hpp"
#include "wire_transport.hpp"

namespace apgas::inline v0::comm {

namespace {

// Lives until the process is gone: what is left of a transport at exit may still be looked at.
struct mpi_process {
  mpi_channels channels;
  buffer_pool pool;
  std::unique_ptr<wire_transport> by_mpi;
  std::unique_ptr<wire_transport> by_ucx;  // made when asked for, if it can be
  std::string no_ucx;                      // why it could not
  bool ours = false;                       // we called MPI_Init_thread

  bool attached() const noexcept { return by_mpi->attached() || (by_ucx && by_ucx->attached()); }
};

std::mutex process_lock;
mpi_process* process = nullptr;

int before_mpi_ends(MPI_Comm, int, void*, void*) {
  if (process->attached()) {
    base::print_line("MPI_Finalize was called while a run is active");
    MPI_Abort(MPI_COMM_WORLD, base::fatal_exit_code);
  }
  process->by_mpi->close();
  if (process->by_ucx) {
    process->by_ucx->close();
    process->by_ucx.reset();  // UCX ends before MPI, which may use it too
  }
  MPI_Comm_free(&process->channels.messages);
  MPI_Comm_free(&process->channels.bulk);
  return MPI_SUCCESS;
}

void at_exit() {
  if (!mpi_running()) return;
  if (process->attached()) {
    base::print_line("the process exits while a run is active; this ends the job");
    MPI_Abort(MPI_COMM_WORLD, base::fatal_exit_code);
  }
  if (process->ours) MPI_Finalize();
}

bool start_mpi() {
  int flag = 0;
  MPI_Finalized(&flag);
  if (flag) {
    throw launch_error(
        "MPI was finalized before: it cannot be started again in this process. Call MPI_Finalize "
        "after the last apgas::run");
  }
  MPI_Initialized(&flag);
  int level = MPI_THREAD_SINGLE;
  if (flag) {
    MPI_Query_thread(&level);
  } else {
    mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  if (level < MPI_THREAD_SERIALIZED) {
    constexpr const char* names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED"};
    throw launch_error(fmt::format(
        "MPI_THREAD_SERIALIZED or more is needed, but MPI was initialised with {}: {}",
        level == MPI_THREAD_SINGLE ? names[0] : names[1],
        flag ? "call MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) before "
               "apgas::run, or leave MPI to apgas"
             : "use an MPI library that was built with thread support"));
  }
  return !flag;
}

void duplicate(MPI_Comm& to) {
  mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &to), "MPI_Comm_dup");
  mpi_check(MPI_Comm_set_errhandler(to, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

}  // namespace

bool mpi_available() noexcept { return true; }

bool mpi_running() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

namespace {

// Requires: process_lock.
mpi_process& started_process() {
  if (process) {
    if (!mpi_running()) start_mpi();  // throws: MPI is over
    return *process;
  }
  const bool ours = start_mpi();
  auto made = std::make_unique<mpi_process>();
  made->ours = ours;
  duplicate(made->channels.messages);
  duplicate(made->channels.bulk);
  MPI_Comm_rank(made->channels.messages, &made->channels.here);
  MPI_Comm_size(made->channels.messages, &made->channels.size);
  made->by_mpi = std::make_unique<wire_transport>(
      made->channels, made->pool, std::make_unique<mpi_wire>(made->channels, made->pool));
  process = made.release();

  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_mpi_ends, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  APGAS_ASSERT(std::atexit(at_exit) == 0);
  return *process;
}

}  // namespace

transport& make_mpi_transport() {
  const std::scoped_lock guard(process_lock);
  return *started_process().by_mpi;
}

transport* make_ucx_transport(std::string& why_not) {
  const std::scoped_lock guard(process_lock);
  mpi_process& p = started_process();
  if (!p.by_ucx && p.no_ucx.empty()) {
    if (std::unique_ptr<wire> made = make_ucx_wire(p.channels, p.pool, p.no_ucx)) {
      p.by_ucx = std::make_unique<wire_transport>(p.channels, p.pool, std::move(made));
    }
  }
  why_not = p.no_ucx;
  return p.by_ucx.get();
}

}  // namespace apgas::inline v0::comm
