// SPDX-License-Identifier: Apache-2.0
#pragma once

// The wire that uses UCX active messages. The messages of a rank have an id of their own, so that
// the receiver knows the sender without a header. UCX keeps the messages of one endpoint in order.
// Short ones arrive with their bytes, which are copied into a buffer. Long ones are announced and
// fetched directly into a buffer (rendezvous). Later messages of the same rank are held back until
// a long one is complete.
//
// UCX's error handling is off, because with it UCX would not use shared memory. The failure
// detector notices lost peers instead.
//
// Invariants
//   I1  The queue of held-back messages of a source is empty or begins with an incomplete message.
//   I2  Every message counted in sent_ is with UCX, or in finished_, or has been taken by
//       complete().

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <ucp/api/ucp.h>

#include "mpi_calls.hpp"
#include "ucx_memory.hpp"
#include "wire.hpp"

namespace apgas::inline v0::comm {

class ucx_wire final : public wire, private remote_memory {
 public:
  ucx_wire(const mpi_channels& channels, buffer_pool& pool);
  ~ucx_wire() override;

  // Opens UCX. Returns why it cannot be used at this rank, or an empty string.
  std::string open();

  std::string_view name() const noexcept override { return "ucx"; }
  void rendezvous() override;
  void submit(rank dest, buffer message) override;
  bool receive(message_chain& arrived) override;
  std::uint64_t received() const noexcept override { return received_; }
  bool receiving() const noexcept override { return incomplete_ != 0; }
  void complete(std::vector<sent_message>& finished) override;
  bool sending() const noexcept override { return with_ucx_ != 0 || !finished_.empty(); }
  const std::vector<std::uint64_t>& sent() const noexcept override { return sent_; }
  void reset_counts() override;
  int descriptor() const noexcept override { return descriptor_; }
  bool arm() noexcept override { return ucp_worker_arm(worker_) == UCS_OK; }
  remote_memory* memory() noexcept override { return this; }
  void close() override;

 private:
  std::unique_ptr<shared_segment> make_segment(std::size_t bytes) override {
    return make_ucx_segment(context_, bytes);
  }
  std::unique_ptr<attached_segment> attach(rank home, std::span<const std::byte> key) override {
    return attach_ucx_segment(endpoint_of(home), key);
  }

  struct source;
  struct held {
    buffer message;
    bool complete;
    source* from;
  };
  struct source {
    ucx_wire* owner;
    rank place;
    std::deque<held> waiting;
  };
  struct sending_message {
    ucx_wire* owner;
    rank dest;
    buffer message;
  };

  ucp_ep_h endpoint_of(rank dest);

  static ucs_status_t on_message(void* from, const void* header, std::size_t header_bytes,
                                 void* data, std::size_t bytes, const ucp_am_recv_param_t* how);
  static void on_sent(void* request, ucs_status_t status, void* message);
  static void on_fetched(void* request, ucs_status_t status, std::size_t bytes, void* message);
  void fetch(source& from, void* announced, std::size_t bytes);
  void deliver(source& from, buffer message);
  void fetched(held& message);

  const mpi_channels& channels_;
  buffer_pool& pool_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::string own_address_;             // valid between open() and rendezvous()
  std::vector<std::string> addresses_;  // of ranks that have no endpoint yet
  std::vector<ucp_ep_h> endpoints_;     // created at the first message to a rank
  std::vector<source> sources_;
  message_chain* arrived_ = nullptr;  // during receive()
  std::deque<sending_message> sendings_;
  std::vector<sending_message*> free_;
  std::vector<sent_message> finished_;
  std::vector<std::uint64_t> sent_;
  std::uint64_t received_ = 0;
  std::uint64_t with_ucx_ = 0;
  std::uint64_t incomplete_ = 0;
};

}  // namespace apgas::inline v0::comm
