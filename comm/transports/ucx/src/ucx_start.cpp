// SPDX-License-Identifier: Apache-2.0

// Start and end of UCX in a process. UCX is opened for the first run that uses it, and MPI carries
// the worker addresses from rank to rank. It is closed before MPI ends, when nothing is in flight.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <ucs/debug/debug.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/comm/transports.hpp>

#include "failure_detector.hpp"
#include "ucx_wire.hpp"

namespace apgas::inline v0::comm {

namespace {

constexpr int most_ranks = 65'536;  // ids of active messages have 16 bits

// UCX installs handlers for crash signals when its library is loaded, even in programs that never
// use it. They would replace the reports of debuggers, of module launch, and of the scheduler for
// stack overflows. Users who set UCX_HANDLE_ERRORS get UCX's handlers.
[[gnu::constructor]] void leave_signals_alone() {
  if (std::getenv("UCX_HANDLE_ERRORS") != nullptr) return;  // NOLINT(concurrency-mt-unsafe)
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ucs_debug_disable_signal(number);
}

std::string reason(const char* call, ucs_status_t status) {
  return fmt::format("{}: {}", call, ucs_status_string(status));
}

}  // namespace

ucx_wire::ucx_wire(const mpi_channels& channels, buffer_pool& pool)
    : channels_(channels),
      pool_(pool),
      endpoints_(static_cast<std::size_t>(channels.size)),
      sources_(static_cast<std::size_t>(channels.size)),
      sent_(static_cast<std::size_t>(channels.size)) {}

bool ucx_available() noexcept { return true; }

std::unique_ptr<wire> open_ucx_wire(const mpi_channels& channels, buffer_pool& pool,
                                    std::string& why_not) {
  auto made = std::make_unique<ucx_wire>(channels, pool);
  why_not = made->open();
  if (!why_not.empty()) return nullptr;
  return made;
}

std::string ucx_wire::open() {
  if (channels_.size > most_ranks) return fmt::format("more than {} ranks", most_ranks);
  const base::threads_start of_ucx;
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) return reason("ucp_config_read", status);
  // On a single host no other host has to reach this place, so it listens only at the loopback
  // interface.
  const failure_detector* const detector = current_failure_detector();
  const bool chosen = std::getenv("UCX_NET_DEVICES") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  if (detector != nullptr && detector->tree().one_host() && !chosen) {
    ucp_config_modify(config, "NET_DEVICES", "lo");
  }
  ucp_params_t context{};
  context.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  context.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  context.estimated_num_eps = static_cast<std::size_t>(channels_.size);
  status = ucp_init(&context, config, &context_);
  ucp_config_release(config);
  if (status != UCS_OK) return reason("ucp_init", status);
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  worker.events = UCP_WAKEUP_RX | UCP_WAKEUP_TX;
  status = ucp_worker_create(context_, &worker, &worker_);
  if (status != UCS_OK) return reason("ucp_worker_create", status);
  status = ucp_worker_get_efd(worker_, &descriptor_);
  if (status != UCS_OK) return reason("ucp_worker_get_efd", status);
  for (rank r = 0; r < channels_.size; ++r) {
    source& from = sources_[static_cast<std::size_t>(r)];
    from.owner = this;
    from.place = r;
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = static_cast<unsigned>(r);
    handler.cb = on_message;
    handler.arg = &from;
    status = ucp_worker_set_am_recv_handler(worker_, &handler);
    if (status != UCS_OK) return reason("ucp_worker_set_am_recv_handler", status);
  }
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  status = ucp_worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK) return reason("ucp_worker_get_address", status);
  own_address_.assign(reinterpret_cast<const char*>(address), bytes);
  ucp_worker_release_address(worker_, address);
  return {};
}

void ucx_wire::rendezvous() {
  const std::string mine = std::exchange(own_address_, {});
  const auto ranks = static_cast<std::size_t>(channels_.size);
  const auto length = static_cast<int>(mine.size());
  std::vector<int> lengths(ranks);
  mpi_check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, channels_.bulk),
            "MPI_Allgather");
  std::vector<int> begins(ranks);
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
  mpi_check(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(),
                           MPI_CHAR, channels_.bulk),
            "MPI_Allgatherv");
  for (std::size_t r = 0; r < ranks; ++r) {
    addresses_.push_back(
        all.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(lengths[r])));
  }
}

ucp_ep_h ucx_wire::endpoint_of(rank dest) {
  ucp_ep_h& endpoint = endpoints_[static_cast<std::size_t>(dest)];
  if (endpoint != nullptr) return endpoint;
  std::string& address = addresses_[static_cast<std::size_t>(dest)];
  ucp_ep_params_t how{};
  how.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  how.address = reinterpret_cast<const ucp_address_t*>(address.data());
  how.err_mode = UCP_ERR_HANDLING_MODE_NONE;
  const ucs_status_t status = ucp_ep_create(worker_, &how, &endpoint);
  if (status != UCS_OK) {
    call_failed("ucp_ep_create", dest, ucs_status_string(status));
  }
  address = {};
  return endpoint;
}

// All ranks flush and close their endpoints before any rank destroys its worker, since others may
// still communicate with it while they close.
void ucx_wire::close() {
  constexpr auto patience = std::chrono::seconds{5};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (ucp_ep_h& endpoint : endpoints_) {
    if (endpoint == nullptr) continue;
    const ucp_request_param_t how{};
    void* const request = ucp_ep_close_nbx(std::exchange(endpoint, nullptr), &how);
    if (!UCS_PTR_IS_PTR(request)) continue;
    while (ucp_request_check_status(request) == UCS_INPROGRESS &&
           std::chrono::steady_clock::now() < deadline) {
      ucp_worker_progress(worker_);
    }
    ucp_request_free(request);
  }
  MPI_Request all_closed = MPI_REQUEST_NULL;
  mpi_check(MPI_Ibarrier(channels_.bulk, &all_closed), "MPI_Ibarrier");
  for (int done = 0; done == 0;) {
    ucp_worker_progress(worker_);
    mpi_check(MPI_Test(&all_closed, &done, MPI_STATUS_IGNORE), "MPI_Test of the last barrier");
  }
}

ucx_wire::~ucx_wire() {
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

}  // namespace apgas::inline v0::comm
