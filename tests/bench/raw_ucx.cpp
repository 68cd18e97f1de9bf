// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "raw_ucx.hpp"

#if defined(BENCH_UCX)
#include <mpi.h>
#include <ucp/api/ucp.h>
#endif

namespace bench {

#if defined(BENCH_UCX)

struct raw_ucx::connection {
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_ep_h endpoint = nullptr;
  bool first = false;
  std::vector<std::byte> to;
  std::vector<std::byte> from;
  bool keeps = false;  // the bytes of short messages, which UCX hands over in its own memory
  int received = 0;
  ucp_mem_h memory = nullptr;  // of this process
  ucp_rkey_h key = nullptr;    // of the other process
  std::uint64_t there = 0;

  void wait(ucs_status_ptr_t request) const noexcept {
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) {
      std::fprintf(stderr, "a call of UCX failed: %s\n",
                   ucs_status_string(UCS_PTR_STATUS(request)));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
    ucp_request_free(request);
  }

  void send() {
    const ucp_request_param_t how{};
    wait(ucp_am_send_nbx(endpoint, 0, nullptr, 0, to.data(), to.size(), &how));
  }

  // Waits for the other process.
  void meet() const {
    const int other = first ? 1 : 0;
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, other, 0, nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }

  // The first process repeats `call`; the other process serves it until both are done.
  template <class F>
  double repeat(int rounds, F call) const {
    meet();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; first && i < rounds; ++i) call();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const int other = first ? 1 : 0;
    MPI_Request met[2];
    MPI_Isend(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, &met[0]);
    MPI_Irecv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, &met[1]);
    for (int done = 0; done == 0;) {
      ucp_worker_progress(worker);
      MPI_Testall(2, met, &done, MPI_STATUSES_IGNORE);
    }
    return seconds;
  }

  void share_memory(int other);

  void receive(int wanted) {
    while (received != wanted) ucp_worker_progress(worker);
  }

  static ucs_status_t on_message(void* self, const void*, std::size_t, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* how) {
    auto& c = *static_cast<connection*>(self);
    if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
      if (c.keeps) std::memcpy(c.from.data(), data, bytes);
      ++c.received;
      return UCS_OK;
    }
    ucp_request_param_t fetch{};
    fetch.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    fetch.cb.recv_am = [](void* request, ucs_status_t, std::size_t, void* to) {
      ++static_cast<connection*>(to)->received;
      ucp_request_free(request);
    };
    fetch.user_data = self;
    if (ucp_am_recv_data_nbx(c.worker, data, c.from.data(), bytes, &fetch) == nullptr) ++c.received;
    return UCS_OK;
  }
};

namespace {

void must(ucs_status_t status) {
  if (status != UCS_OK) throw std::runtime_error(ucs_status_string(status));
}

std::string exchange(const std::string& mine, int other) {
  auto length = static_cast<int>(mine.size());
  int theirs = 0;
  MPI_Sendrecv(&length, 1, MPI_INT, other, 0, &theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  std::string address(static_cast<std::size_t>(theirs), '\0');
  MPI_Sendrecv(mine.data(), length, MPI_CHAR, other, 0, address.data(), theirs, MPI_CHAR, other, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return address;
}

}  // namespace

void raw_ucx::connection::share_memory(int other) {
  ucp_mem_map_params_t how{};
  how.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  how.length = memory_bytes;
  how.flags = UCP_MEM_MAP_ALLOCATE;
  must(ucp_mem_map(context, &how, &memory));
  ucp_mem_attr_t found{};
  found.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  must(ucp_mem_query(memory, &found));
  void* packed = nullptr;
  std::size_t bytes = 0;
  must(ucp_rkey_pack(context, memory, &packed, &bytes));
  const std::string theirs = exchange({static_cast<const char*>(packed), bytes}, other);
  ucp_rkey_buffer_release(packed);
  must(ucp_ep_rkey_unpack(endpoint, theirs.data(), &key));
  const std::string mine(reinterpret_cast<const char*>(&found.address), sizeof found.address);
  std::memcpy(&there, exchange(mine, other).data(), sizeof there);
}

raw_ucx::raw_ucx(bool wanted) {
  if (!wanted) return;
  connection_ = std::make_unique<connection>();
  connection& c = *connection_;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  c.first = rank == 0;
  ucp_params_t context{};
  context.field_mask = UCP_PARAM_FIELD_FEATURES;
  context.features = UCP_FEATURE_AM | UCP_FEATURE_RMA;
  must(ucp_init(&context, nullptr, &c.context));
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SINGLE;
  must(ucp_worker_create(c.context, &worker, &c.worker));
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.cb = connection::on_message;
  handler.arg = &c;
  must(ucp_worker_set_am_recv_handler(c.worker, &handler));
  ucp_address_t* own = nullptr;
  std::size_t bytes = 0;
  must(ucp_worker_get_address(c.worker, &own, &bytes));
  const std::string address = exchange({reinterpret_cast<const char*>(own), bytes}, 1 - rank);
  ucp_worker_release_address(c.worker, own);
  ucp_ep_params_t to{};
  to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  to.address = reinterpret_cast<const ucp_address_t*>(address.data());
  must(ucp_ep_create(c.worker, &to, &c.endpoint));
  c.share_memory(1 - rank);
}

raw_ucx::~raw_ucx() {
  if (connection_ == nullptr) return;
  ping_pong(8, 1);  // afterwards both are connected, and nothing is in transit
  ucp_rkey_destroy(connection_->key);
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = UCP_EP_CLOSE_FLAG_FORCE;
  connection_->meet();
  void* const closing = ucp_ep_close_nbx(connection_->endpoint, &how);
  if (UCS_PTR_IS_PTR(closing)) {
    while (ucp_request_check_status(closing) == UCS_INPROGRESS) {
      ucp_worker_progress(connection_->worker);
    }
    ucp_request_free(closing);
  }
  ucp_mem_unmap(connection_->context, connection_->memory);
  ucp_worker_destroy(connection_->worker);
  ucp_cleanup(connection_->context);
}

double raw_ucx::ping_pong(std::size_t bytes, int rounds, bool echo) const {
  connection& c = *connection_;
  c.to.assign(bytes, std::byte{42});
  c.from.resize(bytes);
  c.keeps = echo;
  c.received = 0;
  c.meet();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i <= rounds; ++i) {
    if (c.first) c.send();
    c.receive(i);
    if (c.first) continue;
    if (echo) c.to.swap(c.from);
    c.send();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double raw_ucx::put(std::size_t bytes, int rounds) const {
  connection& c = *connection_;
  c.to.assign(bytes, std::byte{42});
  return c.repeat(rounds, [&] {
    const ucp_request_param_t how{};
    c.wait(ucp_put_nbx(c.endpoint, c.to.data(), bytes, c.there, c.key, &how));
    c.wait(ucp_ep_flush_nbx(c.endpoint, &how));
  });
}

double raw_ucx::get(std::size_t bytes, int rounds) const {
  connection& c = *connection_;
  c.from.assign(bytes, std::byte{});
  return c.repeat(rounds, [&] {
    const ucp_request_param_t how{};
    c.wait(ucp_get_nbx(c.endpoint, c.from.data(), bytes, c.there, c.key, &how));
  });
}

#else

struct raw_ucx::connection {};
raw_ucx::raw_ucx(bool) {}
raw_ucx::~raw_ucx() = default;
double raw_ucx::ping_pong(std::size_t, int, bool) const { return 0; }
double raw_ucx::put(std::size_t, int) const { return 0; }
double raw_ucx::get(std::size_t, int) const { return 0; }

#endif

}  // namespace bench
