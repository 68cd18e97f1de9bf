// SPDX-License-Identifier: Apache-2.0

// Start and end of MPI in a process. MPI is started at most once. If the library started it, the
// library ends it at exit; otherwise the user does.
//
// Work that must happen before MPI ends is attached to MPI_COMM_SELF as an attribute, since
// MPI_Finalize deletes attributes first, whichever code calls it.
//
// Pairs
//   P1  A thread that ends the job sees the transport, and with it the whole mpi_process, fully
//       constructed.

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

#include "detector_bootstrap.hpp"
#include "launcher_process.hpp"
#include "mpi_environment.hpp"
#include "mpi_wire.hpp"
#include "shm_transport.hpp"
#include "transport_offer.hpp"
#include "wire_transport.hpp"

namespace apgas::inline v0::comm {

namespace {

using base::transport_choice;

// Never destroyed, since the remains of a transport may still be examined at exit.
struct mpi_process {
  mpi_channels channels;
  buffer_pool pool;
  std::unique_ptr<wire_transport> by_mpi;
  std::unique_ptr<wire_transport> by_ucx;      // created when it is chosen for the first time
  std::optional<shared_memory_start> shared;   // tried at its first use
  transport* shared_over = nullptr;            // the transport inside, one of the two
  std::unique_ptr<failure_detector> detector;  // null in a job of one process
  bool ours = false;                           // the library called MPI_Init_thread
  pid_t started_by = getpid();                 // a forked process must leave MPI alone
  bool exits_alone = false;  // std::exit was called while a run is active, in a job of one process

  bool attached() const noexcept {
    return by_mpi->attached() || (by_ucx && by_ucx->attached()) ||
           (shared && shared->network && shared->network->attached());
  }
};

std::mutex process_lock;
mpi_process* process = nullptr;
base::atomic<transport*> abort_transport{nullptr};

// The calls of signal handlers to the failure detector.
constexpr base::exit_reason_listener listener{
    .printed =
        [](int code) noexcept {
          if (failure_detector* const w = current_failure_detector()) w->reported(code);
        },
    .others_printed =
        []() noexcept {
          failure_detector* const w = current_failure_detector();
          return w != nullptr && w->others_reported();
        },
    .asked_to_end =
        [](int signal) noexcept {
          failure_detector* const w = current_failure_detector();
          if (w) w->asked_to_end(signal);
          return w != nullptr;
        },
};

void stop_failure_detector() {
  set_current_failure_detector(nullptr);
  process->detector.reset();
}

int before_mpi_ends(MPI_Comm, int, void*, void*) {
  const bool in_use = process->attached();
  if (in_use && !process->exits_alone) {
    base::print_line("MPI_Finalize was called while a run is active; this ends the job");
    end_job(base::fatal_exit_code);
  }
  if (!process->ours) stop_failure_detector();
  if (!in_use) process->shared.reset();
  process->by_mpi->close();
  if (process->by_ucx) {
    process->by_ucx->close();
    // UCX ends before MPI, which may use it as well. The endpoint of an active run keeps its part.
    if (!in_use) process->by_ucx.reset();
  }
  MPI_Comm_free(&process->channels.messages);
  MPI_Comm_free(&process->channels.bulk);
  return MPI_SUCCESS;
}

void at_exit() {
  if (process->started_by != getpid()) return;
  if (mpi_running()) {
    process->exits_alone = process->channels.size == 1;
    if (process->attached() && !process->exits_alone) {
      base::print_line("the process exits while a run is active; this ends the job");
      end_job(base::fatal_exit_code);
    }
    if (!process->ours) return;
    MPI_Finalize();
  }
  if (!process->detector) return;
  process->detector->wait_for_all();  // other places may still be in MPI_Finalize
  stop_failure_detector();
}

bool start_mpi() {
  int flag = 0;
  MPI_Finalized(&flag);
  if (flag) {
    throw launch_error(
        "MPI has been finalized and cannot be started again in this process. Call MPI_Finalize "
        "after the last apgas::run or apgas::runtime");
  }
  if (const auto launcher = find_launcher(); launcher && launcher->size != 1) {
    end_with_launcher();
    base::catch_signals();
  }
  MPI_Initialized(&flag);
  int level = MPI_THREAD_SINGLE;
  if (flag) {
    MPI_Query_thread(&level);
  } else {
    prepare_mpi_environment();
    const base::threads_start of_mpi;
    mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  if (level < MPI_THREAD_SERIALIZED) {
    constexpr const char* names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED"};
    throw launch_error(fmt::format(
        "MPI_THREAD_SERIALIZED or more is needed, but MPI was initialised with {}: {}",
        level == MPI_THREAD_SINGLE ? names[0] : names[1],
        flag ? "call MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) before "
               "apgas::run or apgas::runtime, or leave MPI to apgas"
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
mpi_process& started_process(const failure_detector_options& options) {
  if (process) {
    if (!mpi_running()) start_mpi();  // throws, since MPI has ended
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

  abort_transport.store(process->by_mpi.get(), base::release);  // P1
  process->detector =
      start_failure_detector(process->channels, options, [](int code) noexcept { end_job(code); });
  if (process->detector) {
    set_current_failure_detector(process->detector.get());
    base::set_exit_reporting(process->detector->tree().name(process->channels.here), &listener);
  }
  return *process;
}

}  // namespace

transport& make_mpi_transport(const failure_detector_options& options) {
  const std::scoped_lock guard(process_lock);
  return *started_process(options).by_mpi;
}

void end_job(int code) noexcept {
  base::run_end_actions();
  base::exit_reason_printed(code);
  if (transport* const network = abort_transport.load(base::acquire)) network->abort(code);  // P1
  std::_Exit(code);
}

namespace {

// The transport of the network between hosts, which the ranks choose collectively.
// Requires: process_lock.
chosen_transport choose_network(mpi_process& p, base::transport_choice wanted) {
  std::unique_ptr<wire> opened;
  std::string why_not;
  const bool may_be_ucx = wanted != transport_choice::mpi && wanted != transport_choice::local;
  if (may_be_ucx && !p.by_ucx) {
    opened = open_ucx_wire(p.channels, p.pool, why_not);
  }
  const transport_offer mine = make_transport_offer(wanted, why_not);
  std::vector<transport_offer> all(static_cast<std::size_t>(p.channels.size));
  mpi_check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                          p.channels.bulk),
            "MPI_Allgather");
  agreed_transport agreed = agree_on_transport(all);
  set_hosts_of_ranks(hosts_of(all));
  if (!agreed.ucx) return {p.by_mpi.get(), std::move(agreed.why)};
  if (!p.by_ucx) {  // the same at all ranks: they use it together
    opened->rendezvous();
    p.by_ucx = std::make_unique<wire_transport>(p.channels, p.pool, std::move(opened));
  }
  return {p.by_ucx.get(), std::move(agreed.why)};
}

}  // namespace

chosen_transport choose_transport(base::transport_choice wanted,
                                  const failure_detector_options& options) {
  const std::scoped_lock guard(process_lock);
  mpi_process& p = started_process(options);
  chosen_transport chosen = choose_network(p, wanted);
  const bool asked_for = wanted == transport_choice::shm;
  if (wanted != transport_choice::automatic && !asked_for) return chosen;
  if (!p.shared || p.shared_over != chosen.network) {
    p.shared.reset();
    p.shared_over = chosen.network;
    p.shared = share_memory(*chosen.network);
  }
  const shared_memory_start& shared = *p.shared;
  if (asked_for && !shared.why_not.empty()) {
    throw launch_error(fmt::format(
        "APGAS_TRANSPORT=shm: {}. Remedy: leave it out, or set it to ucx or mpi", shared.why_not));
  }
  const char* const unaided = asked_for ? "APGAS_TRANSPORT" : "default";
  if (shared.network == nullptr || shared.network->name() != "shm") {  // some use the network
    if (!shared.why_not.empty()) {
      chosen.why = chosen.why == unaided ? shared.why_not : chosen.why + "; " + shared.why_not;
    }
  } else {
    chosen.why = unaided;
  }
  if (shared.network != nullptr) chosen.network = shared.network.get();
  return chosen;
}

}  // namespace apgas::inline v0::comm
