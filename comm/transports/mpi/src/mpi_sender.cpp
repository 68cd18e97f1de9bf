// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/comm/message.hpp>

#include "mpi_sender.hpp"

namespace apgas::inline v0::comm {

mpi_sender::mpi_sender(const mpi_channels& channels, buffer_pool& pool)
    : channels_(channels),
      pool_(pool),
      peers_(static_cast<std::size_t>(channels.size)),
      sent_(static_cast<std::size_t>(channels.size)) {}

void mpi_sender::submit(rank dest, buffer message) {
  peer& to = peers_[static_cast<std::size_t>(dest)];
  if (to.waiting.empty() && may_start(to, message.size())) {
    start(dest, std::move(message));
  } else {
    to.waiting.push_back(dest, std::move(message));
  }
}

void mpi_sender::start(rank dest, buffer message) {
  peer& to = peers_[static_cast<std::size_t>(dest)];
  const std::size_t bytes = message.size();
  APGAS_ASSERT(bytes <= frame_bytes(max_payload_bytes), "a message is longer than MPI can count");
  to.messages += 1;
  to.bytes += bytes;
  ++sent_[static_cast<std::size_t>(dest)];
  if (bytes <= posted_bytes) {
    isend(dest, std::move(message), bytes, tag_message, channels_.messages);
    return;
  }
  buffer announcement = pool_.get(sizeof(std::uint64_t));
  const std::uint64_t length = bytes;
  std::memcpy(announcement.data(), &length, sizeof(length));
  announcement.resize(sizeof(length));
  isend(dest, std::move(announcement), 0, tag_announcement, channels_.messages);
  isend(dest, std::move(message), bytes, tag_bulk, channels_.bulk);
}

void mpi_sender::isend(rank dest, buffer message, std::size_t counted, int tag, MPI_Comm where) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, dest, tag, where,
                      &request),
            "MPI_Isend", dest);
  requests_.push_back(request);
  sendings_.push_back({dest, counted, std::move(message)});
}

int mpi_sender::test() {
  if (requests_.empty()) return 0;
  indices_.resize(requests_.size());
  int finished = 0;
  mpi_check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished,
                         indices_.data(), MPI_STATUSES_IGNORE),
            "MPI_Testsome of sends");
  APGAS_ASSERT(finished != MPI_UNDEFINED);
  return finished;
}

void mpi_sender::complete(std::vector<sent_message>& finished) {
  const int count = test();
  for (int i = 0; i < count; ++i) {
    const sent_message what = finish(indices_[static_cast<std::size_t>(i)]);
    if (what.bytes != 0) finished.push_back(what);
  }
  if (count > 0) forget_finished();
}

sent_message mpi_sender::finish(int index) {
  sending& done = sendings_[static_cast<std::size_t>(index)];
  done.message = buffer{};
  if (done.bytes != 0) {
    peer& to = peers_[static_cast<std::size_t>(done.dest)];
    to.messages -= 1;
    to.bytes -= done.bytes;
  }
  return {done.dest, done.bytes};
}

// Removes the finished requests and starts messages that waited for the same ranks. They are
// appended, so they stay behind earlier ones.
void mpi_sender::forget_finished() {
  std::vector<rank>::size_type kept = 0;
  std::vector<rank> freed;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (!sendings_[i].message) {
      if (!peers_[static_cast<std::size_t>(sendings_[i].dest)].waiting.empty()) {
        freed.push_back(sendings_[i].dest);
      }
      continue;
    }
    if (kept != i) {
      requests_[kept] = requests_[i];
      sendings_[kept] = std::move(sendings_[i]);
    }
    ++kept;
  }
  requests_.resize(kept);
  sendings_.erase(sendings_.begin() + static_cast<std::ptrdiff_t>(kept), sendings_.end());
  for (const rank dest : freed) {
    peer& to = peers_[static_cast<std::size_t>(dest)];
    while (!to.waiting.empty() && may_start(to, to.waiting.front_bytes())) {
      start(dest, to.waiting.pop_front());
    }
  }
}

void mpi_sender::reset_sent() { std::ranges::fill(sent_, 0); }

}  // namespace apgas::inline v0::comm
