// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/out_of_memory.hpp>

#include "failure_detector.hpp"
#include "ucx_wire.hpp"

namespace apgas::inline v0::comm {

namespace {

constexpr int most_steps = 64;

[[noreturn]] void failed(const char* call, rank other, ucs_status_t status) {
  call_failed(call, other, ucs_status_string(status));
}

message_end from_rank(rank source) noexcept { return {"from", source, host_of_rank(source)}; }

}  // namespace

void ucx_wire::submit(rank dest, buffer message) {
  const auto to = static_cast<std::size_t>(dest);
  const std::size_t bytes = message.size();
  ++sent_[to];
  if (free_.empty()) free_.push_back(&sendings_.emplace_back());
  sending_message& record = *free_.back();
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = on_sent;
  how.user_data = &record;
  void* const request = ucp_am_send_nbx(endpoint_of(dest), static_cast<unsigned>(channels_.here),
                                        nullptr, 0, message.data(), bytes, &how);
  if (UCS_PTR_IS_ERR(request)) failed("ucp_am_send_nbx", dest, UCS_PTR_STATUS(request));
  if (request == nullptr) {
    finished_.push_back({dest, bytes});
    return;
  }
  free_.pop_back();
  record = {this, dest, std::move(message)};
  ++with_ucx_;
}

void ucx_wire::on_sent(void* request, ucs_status_t status, void* message) {
  sending_message& record = *static_cast<sending_message*>(message);
  if (status != UCS_OK) failed("ucp_am_send_nbx", record.dest, status);
  ucx_wire& self = *record.owner;
  or_end_job(record.message.size(), {"to", record.dest, host_of_rank(record.dest)}, [&] {
    self.finished_.push_back({record.dest, record.message.size()});
    self.free_.push_back(&record);
  });
  record.message = buffer{};
  --self.with_ucx_;
  ucp_request_free(request);
}

void ucx_wire::complete(std::vector<sent_message>& finished) {
  finished.insert(finished.end(), finished_.begin(), finished_.end());
  finished_.clear();
}

bool ucx_wire::receive(message_chain& arrived) {
  arrived_ = &arrived;
  int steps = 0;
  while (steps < most_steps && ucp_worker_progress(worker_) != 0) ++steps;
  arrived_ = nullptr;
  return steps != 0;
}

ucs_status_t ucx_wire::on_message(void* from, const void*, std::size_t, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* how) {
  source& s = *static_cast<source*>(from);
  ucx_wire& self = *s.owner;
  ++self.received_;
  if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    or_end_job(bytes, from_rank(s.place), [&] { self.fetch(s, data, bytes); });
    return UCS_OK;
  }
  or_end_job(bytes, from_rank(s.place), [&] {
    buffer message = self.pool_.get(bytes);
    std::memcpy(message.data(), data, bytes);
    message.resize(bytes);
    self.deliver(s, std::move(message));
  });
  return UCS_OK;
}

void ucx_wire::fetch(source& from, void* announced, std::size_t bytes) {
  APGAS_ASSERT(bytes <= frame_bytes(max_payload_bytes));
  buffer message = pool_.get(bytes);
  message.resize(bytes);
  held& place = from.waiting.emplace_back(std::move(message), false, &from);
  ++incomplete_;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.recv_am = on_fetched;
  how.user_data = &place;
  void* const request = ucp_am_recv_data_nbx(worker_, announced, place.message.data(), bytes, &how);
  if (UCS_PTR_IS_ERR(request)) failed("ucp_am_recv_data_nbx", from.place, UCS_PTR_STATUS(request));
  if (request == nullptr) fetched(place);
}

void ucx_wire::on_fetched(void* request, ucs_status_t status, std::size_t, void* message) {
  held& what = *static_cast<held*>(message);
  if (status != UCS_OK) failed("ucp_am_recv_data_nbx", what.from->place, status);
  ucp_request_free(request);
  what.from->owner->fetched(what);
}

void ucx_wire::fetched(held& message) {
  source& from = *message.from;
  message.complete = true;
  --incomplete_;
  for (auto& queue = from.waiting; !queue.empty() && queue.front().complete; queue.pop_front()) {
    arrived_->push_back(from.place, std::move(queue.front().message));
  }
}

void ucx_wire::deliver(source& from, buffer message) {
  if (from.waiting.empty()) {
    arrived_->push_back(from.place, std::move(message));
  } else {
    from.waiting.emplace_back(std::move(message), true, &from);
  }
}

void ucx_wire::reset_counts() {
  received_ = 0;
  sent_.assign(sent_.size(), 0);
}

}  // namespace apgas::inline v0::comm
