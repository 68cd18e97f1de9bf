// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/message_access.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>
#include <apgas/errors.hpp>

namespace apgas::inline v0::remote {
namespace {

// Chunks are so large that sending one takes much longer than its reply, and so many are in flight
// that the network is never idle, over TCP too.
constexpr std::uint64_t chunk_bytes = std::uint64_t{512} << 10;
constexpr int chunks_in_flight = 8;

// The limit of counted accesses that are incomplete, since each takes memory.
constexpr int most_unfinished = 16'384;

[[noreturn]] void bad_reply(const comm::inbound_frame& reply) {
  base::fatal(
      fmt::format("place {} sent a reply of {} bytes that does not fit any access to its memory",
                  reply.source, reply.payload.size()));
}

}  // namespace

void message_access::start() {
  if (what_.operation == memory_operation::atomic) {
    missing_.fetch_add(1, base::relaxed);
    send(0, what_.range.bytes);
  } else {
    for (int i = 0; i < chunks_in_flight && send_chunk(); ++i) {
    }
  }
  sync::place_state& place = place_;
  answered();
  place.task_scheduler->keep_polling();
}

// Sends the next chunk. Returns false if there is none.
bool message_access::send_chunk() noexcept {
  if (failed_.load(base::relaxed)) return false;
  const std::uint64_t begin = next_.fetch_add(chunk_bytes, base::relaxed);
  if (begin >= what_.range.bytes) return false;
  missing_.fetch_add(1, base::relaxed);
  // Earlier chunks are in flight and their replies will use this object, so no exception may leave.
  const std::uint64_t bytes = std::min(chunk_bytes, what_.range.bytes - begin);
  const comm::rank home = what_.range.allocation.home;
  comm::or_end_job(bytes, {"to", home, place_.endpoint->host(home).c_str()},
                   [&] { send(begin, bytes); });
  return true;
}

void message_access::send(std::uint64_t offset, std::uint64_t bytes) {
  const comm::frame_header header{
      .kind = comm::frame_kind::control,
      .handler = sync::control_memory | static_cast<std::uint64_t>(what_.operation),
      .finish = place_.calls->add(*this),
      .credit = what_.range.offset + offset};
  comm::out_archive payload;
  payload(what_.range.allocation);
  switch (what_.operation) {
    case memory_operation::put:
      payload.append({what_.from + offset, bytes});
      break;
    case memory_operation::get:
      payload(bytes);
      break;
    case memory_operation::atomic:
      payload(what_.atomic);
      break;
    case memory_operation::key:
      APGAS_UNREACHABLE("a request for a segment's key is not a message_access");
  }
  place_.endpoint->send(what_.range.allocation.home, header, std::move(payload));
}

void message_access::on_reply(const comm::inbound_frame& frame) noexcept {
  take(frame);
  if (what_.operation != memory_operation::atomic) send_chunk();
  answered();
}

void message_access::take(const comm::inbound_frame& reply) noexcept {
  const auto bytes = reply.payload.size();
  if ((reply.header->flags & sync::flag_failed) != 0) {
    if (bytes != sizeof failure_) bad_reply(reply);
    if (!failed_.exchange(true, base::relaxed)) {
      std::memcpy(&failure_, reply.payload.data(), sizeof failure_);
    }
    return;
  }
  std::uint64_t word = 0;
  if (what_.operation == memory_operation::put) return;
  if (bytes < sizeof word) bad_reply(reply);
  std::memcpy(&word, reply.payload.data(), sizeof word);
  if (what_.operation == memory_operation::atomic) {
    result_ = word;
    return;
  }
  const std::uint64_t begin = word - what_.range.offset;
  const std::uint64_t length = bytes - sizeof word;
  if (begin > what_.range.bytes || length > what_.range.bytes - begin) bad_reply(reply);
  std::memcpy(what_.to + begin, reply.payload.data() + sizeof word, length);
}

void message_access::publish_failure(sync::future_core& future,
                                     std::source_location site) const noexcept {
  try {
    throw_failure();
  } catch (...) {
    future.publish_error(std::current_exception(), place_,
                         {.file = site.file_name(),
                          .line = site.line(),
                          .function = site.function_name(),
                          .task_name = {}});
  }
}

void admit_access(scheduler::fiber& self, comm::rank home) {
  sync::place_state& place = sync::place_of(self);
  const place_memory& memory = place_memory_of(self);
  while (memory.unfinished.load(base::relaxed) >= most_unfinished ||
         place.endpoint->congested(home)) {
    scheduler::yield();
  }
}

void counted_access::start(scheduler::fiber& self, const memory_access& what,
                           std::source_location site) {
  admit_access(self, what.range.allocation.home);
  auto* const made = new counted_access(self, what, site);
  made->finish_.add(1);
  place_memory_of(self).unfinished.fetch_add(1, base::relaxed);
  made->message_access::start();  // it deletes itself from here on
}

void counted_access::completed() noexcept {
  static_cast<place_memory*>(place_.memory)->unfinished.fetch_sub(1, base::relaxed);
  if (failed()) {  // a finish collects exceptions from tasks only
    place_.task_scheduler->submit(this);
    return;
  }
  sync::finish_core& waits = finish_;
  delete this;
  scheduler::release_count(waits);
}

scheduler::task_counter* counted_access::fail(scheduler::external_task* work,
                                              scheduler::fiber& self) noexcept {
  const std::unique_ptr<counted_access> access(static_cast<counted_access*>(work));
  self.task.finish = &access->finish_;
  self.task.site = access->site_;
  try {
    access->throw_failure();
  } catch (...) {
    sync::task_failed(self);
  }
  return &access->finish_;
}

void throw_access_failure(const char* operation, const allocation_range& what,
                          const access_failure& failure) {
  const allocation_name& allocation = what.allocation;
  if (allocation.generation == 0) {
    throw illegal_operation(
        fmt::format("{} was given a global_ptr that points to nothing; assign the result of "
                    "allocate to it first",
                    operation));
  }
  switch (failure.fault) {
    case access_fault::out_of_range:
      throw illegal_operation(
          fmt::format("{} was asked to access {} bytes at offset {} of an allocation of {} bytes "
                      "at place {}; stay within what was allocated",
                      operation, what.bytes, static_cast<std::int64_t>(what.offset), failure.bytes,
                      allocation.home));
    case access_fault::no_place:
      throw illegal_operation(
          fmt::format("{} was given a global_ptr to memory of place {}, which does not exist in "
                      "this run: a pointer is valid only in the run that allocated the memory",
                      operation, allocation.home));
    default:
      throw illegal_operation(fmt::format(
          "{} was given a stale global_ptr to memory of place {}: deallocate has released it, or "
          "the run that allocated it has ended; do not use any copy of a pointer after that",
          operation, allocation.home));
  }
}

}  // namespace apgas::inline v0::remote
