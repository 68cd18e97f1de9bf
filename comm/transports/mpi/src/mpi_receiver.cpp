// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/out_of_memory.hpp>

#include "mpi_receiver.hpp"

namespace apgas::inline v0::comm {

mpi_receiver::mpi_receiver(const mpi_channels& channels, buffer_pool& pool)
    : channels_(channels),
      pool_(pool),
      ring_(ring_size),
      held_(static_cast<std::size_t>(channels.size)) {}

void mpi_receiver::repost() {
  for (; posted_ < ring_size; ++posted_) {
    posted& next = slot(head_ + posted_);
    if (!next.block) next.block = pool_.get(posted_bytes);
    mpi_check(MPI_Irecv(next.block.data(), static_cast<int>(posted_bytes), MPI_BYTE, MPI_ANY_SOURCE,
                        MPI_ANY_TAG, channels_.messages, &next.request),
              "MPI_Irecv");
  }
}

bool mpi_receiver::receive(message_chain& arrived) {
  int taken = 0;
  if (posted_ == 0) repost();
  for (; taken < most_at_once && posted_ > 0; ++taken) {
    posted& oldest = slot(head_);
    int complete = 0;
    MPI_Status status;
    mpi_check(MPI_Test(&oldest.request, &complete, &status), "MPI_Test of a receive");
    if (!complete) break;
    int count = 0;
    mpi_check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count", status.MPI_SOURCE);
    ++head_;
    --posted_;
    ++received_;
    const auto bytes = static_cast<std::size_t>(count);
    const rank source = status.MPI_SOURCE;
    if (status.MPI_TAG == tag_announcement) {
      take_announcement(source, oldest, bytes);
    } else {
      or_end_job(bytes, {"from", source, host_of_rank(source)},
                 [&] { take_message(source, oldest, bytes, arrived); });
    }
  }
  const bool completed = complete_bulk(arrived);
  // Posting takes time, so messages that have arrived are delivered first, unless the ring runs
  // low.
  if (taken == 0 || posted_ < ring_size / 2) repost();
  return taken > 0 || completed;
}

// Copies a short message to a buffer of its size, since it may be kept for a long time and the
// buffers of the ring are large.
void mpi_receiver::take_message(rank source, posted& from, std::size_t bytes,
                                message_chain& arrived) {
  if (bytes > buffer_pool::medium_bytes) {
    from.block.resize(bytes);
    deliver(source, std::exchange(from.block, buffer{}), arrived);
    return;
  }
  buffer message = pool_.get(bytes);
  std::memcpy(message.data(), from.block.data(), bytes);
  message.resize(bytes);
  deliver(source, std::move(message), arrived);
}

void mpi_receiver::take_announcement(rank source, const posted& from, std::size_t bytes) {
  std::uint64_t length = 0;
  APGAS_ASSERT(bytes == sizeof(length));
  std::memcpy(&length, from.block.data(), sizeof(length));
  APGAS_ASSERT(posted_bytes < length && length <= frame_bytes(max_payload_bytes));
  or_end_job(length, {"from", source, host_of_rank(source)}, [&] {
    buffer message = pool_.get(length);
    message.resize(length);
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Irecv(message.data(), static_cast<int>(length), MPI_BYTE, source, tag_bulk,
                        channels_.bulk, &request),
              "MPI_Irecv", source);
    auto& queue = held_[static_cast<std::size_t>(source)];
    queue.push_back({std::move(message), false});
    bulk_requests_.push_back(request);
    bulk_.push_back({source, &queue.back()});
  });
}

void mpi_receiver::deliver(rank source, buffer message, message_chain& arrived) {
  auto& queue = held_[static_cast<std::size_t>(source)];
  if (queue.empty()) {
    arrived.push_back(source, std::move(message));
  } else {
    queue.push_back({std::move(message), true});
  }
}

bool mpi_receiver::complete_bulk(message_chain& arrived) {
  bool any = false;
  for (std::size_t i = 0; i < bulk_.size();) {
    int complete = 0;
    mpi_check(MPI_Test(&bulk_requests_[i], &complete, MPI_STATUS_IGNORE),
              "MPI_Test of a long receive", bulk_[i].source);
    if (!complete) {
      ++i;
      continue;
    }
    any = true;
    bulk_[i].message->complete = true;
    const rank source = bulk_[i].source;
    bulk_[i] = bulk_.back();
    bulk_requests_[i] = bulk_requests_.back();
    bulk_.pop_back();
    bulk_requests_.pop_back();
    auto& queue = held_[static_cast<std::size_t>(source)];
    for (; !queue.empty() && queue.front().complete; queue.pop_front()) {
      arrived.push_back(source, std::move(queue.front().message));
    }
  }
  return any;
}

void mpi_receiver::close() {
  for (; posted_ > 0; ++head_, --posted_) {
    posted& oldest = slot(head_);
    MPI_Cancel(&oldest.request);
    MPI_Wait(&oldest.request, MPI_STATUS_IGNORE);
  }
  for (posted& each : ring_) each.block = buffer{};
}

}  // namespace apgas::inline v0::comm
