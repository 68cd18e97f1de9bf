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

// A piece keeps the network busy for much longer than its answer takes, over TCP too; as many as
// keep it busy without a gap.
constexpr std::uint64_t piece_bytes = std::uint64_t{512} << 10;
constexpr int loot_in_transit = 8;

// Accesses that finishes count and that are not over, at most: they need memory.
constexpr int most_unfinished = 16'384;

[[noreturn]] void bad_reply(const comm::inbound_frame& reply) {
  base::fatal(
      fmt::format("place {} sent an answer of {} bytes that is none to an access of its "
                  "memory",
                  reply.source, reply.payload.size()));
}

}  // namespace

void message_access::start() {
  if (what_.operation == memory_operation::atomic) {
    missing_.fetch_add(1, base::relaxed);
    send(0, what_.range.bytes);
  } else {
    for (int i = 0; i < loot_in_transit && send_loot(); ++i) {
    }
  }
  sync::place_state& place = place_;
  answered();
  place.tasks->keep_polling();
}

// The next piece, if there is one.
bool message_access::send_loot() noexcept {
  if (failed_.load(base::relaxed)) return false;
  const std::uint64_t begin = next_.fetch_add(piece_bytes, base::relaxed);
  if (begin >= what_.range.bytes) return false;
  missing_.fetch_add(1, base::relaxed);
  // Pieces are under way already, and answers come for them: nothing can be thrown to the caller.
  const std::uint64_t bytes = std::min(piece_bytes, what_.range.bytes - begin);
  const comm::rank home = what_.range.allocation.home;
  comm::or_end_job(bytes, {"to", home, place_.network->host(home).c_str()},
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
      APGAS_UNREACHABLE("the key of a region is no access");
  }
  place_.network->send(what_.range.allocation.home, header, std::move(payload));
}

void message_access::on_reply(const comm::inbound_frame& frame) noexcept {
  take(frame);
  if (what_.operation != memory_operation::atomic) send_loot();
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
         place.network->congested(home)) {
    scheduler::yield();
  }
}

void counted_access::start(scheduler::fiber& self, const memory_access& what,
                           std::source_location site) {
  admit_access(self, what.range.allocation.home);
  auto* const made = new counted_access(self, what, site);
  made->finish_.add(1);
  place_memory_of(self).unfinished.fetch_add(1, base::relaxed);
  made->message_access::start();  // it ends itself from here on
}

void counted_access::completed() noexcept {
  static_cast<place_memory*>(place_.memory)->unfinished.fetch_sub(1, base::relaxed);
  if (failed()) {  // what a finish throws comes from tasks
    place_.tasks->submit(this);
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
    throw illegal_operation(fmt::format(
        "{} was given a global_ptr that points to nothing; assign what allocate returned to it",
        operation));
  }
  switch (failure.fault) {
    case access_fault::out_of_range:
      throw illegal_operation(
          fmt::format("{} was to reach {} bytes at byte {} of a block of {} bytes at place {}; "
                      "stay within what "
                      "was allocated",
                      operation, what.bytes, static_cast<std::int64_t>(what.offset), failure.bytes,
                      allocation.home));
    case access_fault::no_place:
      throw illegal_operation(
          fmt::format("{} was given a global_ptr to place {}, which does not exist: it comes from "
                      "another run; pointers end with the run that allocated",
                      operation, allocation.home));
    default:
      throw illegal_operation(fmt::format(
          "{} was given a global_ptr to a block of place {} that is not there any more: deallocate "
          "ended it, or an earlier run did; no copy of the pointer may be used then",
          operation, allocation.home));
  }
}

}  // namespace apgas::inline v0::remote
