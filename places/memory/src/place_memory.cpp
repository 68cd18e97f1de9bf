// SPDX-License-Identifier: Apache-2.0

// Finding out how segments of other places are accessed, and serving the requests of places that
// access this one's memory by messages. A request is checked completely before it is acted on.

#include <apgas/places/place_memory.hpp>

#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/places/message_access.hpp>
#include <apgas/sync/remote_task.hpp>

namespace apgas::inline v0::remote {
namespace {

// Asks a place for the key with which one of its segments is mapped.
class key_request final : public sync::pending_call {
 public:
  explicit key_request(scheduler::fiber& self) : finish_(sync::finish_of(self)) {}
  key_request(const key_request&) = delete;
  key_request& operator=(const key_request&) = delete;
  ~key_request() {
    if (reply_.owner != nullptr) reply_.owner->release();
  }

  void wait() noexcept { over_.wait("memory of another place"); }
  bool failed() const noexcept { return (reply_.header->flags & sync::flag_failed) != 0; }
  std::span<const std::byte> answer() const noexcept { return reply_.payload; }

  void on_reply(const comm::inbound_frame& frame) noexcept override {
    frame.keep();
    reply_ = frame;
    over_.signal();
  }
  sync::finish_core& finish() const noexcept override { return finish_; }

 private:
  sync::finish_core& finish_;
  sync::handoff over_;
  comm::inbound_frame reply_{};
};

[[noreturn]] void bad_request(const comm::inbound_frame& frame) {
  base::fatal(fmt::format("place {} sent a malformed memory request of {} bytes", frame.source,
                          frame.payload.size()));
}

void reply(sync::place_state& place, const comm::inbound_frame& to, comm::out_archive& value,
           bool failed = false) {
  comm::frame_header header{.kind = comm::frame_kind::reply, .handler = to.header->finish};
  if (failed) header.flags = sync::flag_failed;
  place.endpoint->send(to.source, header, std::move(value));
}

// Takes a value from the front of the rest of a payload.
template <class T>
T take(const comm::inbound_frame& frame, std::span<const std::byte>& rest) {
  T value;
  if (rest.size() < sizeof value) bad_request(frame);
  std::memcpy(&value, rest.data(), sizeof value);
  rest = rest.subspan(sizeof value);
  return value;
}

}  // namespace

place_memory::place_memory(sync::place_state& place, comm::transport& network, bool direct)
    : place_(place),
      shared_(direct ? network.memory() : nullptr),
      heap_(place.here, shared_),
      homes_(static_cast<std::size_t>(place.places)) {}

segment_view& place_memory::keep(const allocation_name& allocation,
                                 std::unique_ptr<segment_view> view) {
  auto& home = homes_[static_cast<std::size_t>(allocation.home)];
  if (home.load(base::acquire) == nullptr) {  // P1
    const std::scoped_lock guard(lock_);
    if (home.load(base::relaxed) == nullptr) {
      lists_.push_back(std::make_unique<segment_list>());
      home.store(lists_.back().get(), base::release);  // P1
    }
  }
  return home.load(base::relaxed)->set(allocation.segment, std::move(view));
}

void place_memory::require_home(const char* operation, const allocation_range& what) const {
  if (what.allocation.generation == 0) {
    throw_access_failure(operation, what, {.fault = access_fault::stale});
  }
  if (what.allocation.home < 0 || what.allocation.home >= place_.places) {
    throw_access_failure(operation, what, {.fault = access_fault::no_place});
  }
}

const segment_view& place_memory::look_up(scheduler::fiber& self, const char* operation,
                                          const allocation_range& what) {
  const allocation_name& allocation = what.allocation;
  require_home(operation, what);
  auto view = std::make_unique<segment_view>();
  if (allocation.home == place_.here) {
    comm::shared_segment* const own = heap_.segment(allocation.segment);
    if (own == nullptr)
      throw_access_failure(operation, what, {.fault = access_fault::no_allocation});
    view->memory = own->memory().data();
    view->bytes = own->memory().size();
    return keep(allocation, std::move(view));
  }
  if (shared_ == nullptr) return by_messages_;
  key_request call(self);
  comm::out_archive payload;
  payload(allocation);
  place_.endpoint->send(
      allocation.home,
      {.kind = comm::frame_kind::control,
       .handler = sync::control_memory | static_cast<std::uint64_t>(memory_operation::key),
       .finish = place_.calls->add(call)},
      std::move(payload));
  place_.task_scheduler->keep_polling();
  call.wait();
  comm::in_archive answer(call.answer());
  if (call.failed()) throw_access_failure(operation, what, answer.read<access_failure>());
  std::vector<std::byte> key;
  answer(view->bytes, key);
  if (!key.empty()) view->attached = shared_->attach(allocation.home, key);
  if (view->attached != nullptr) view->memory = view->attached->memory();
  return keep(allocation, std::move(view));
}

void place_memory::on_frame(const comm::inbound_frame& frame) {
  std::span<const std::byte> rest = frame.payload;
  const auto allocation = take<allocation_name>(frame, rest);
  const auto operation =
      static_cast<memory_operation>(frame.header->handler & ~sync::control_memory);
  allocation_range range{.allocation = allocation, .offset = frame.header->credit};
  atomic_request atomic;
  switch (operation) {
    case memory_operation::key:
      return serve_key(frame, allocation);
    case memory_operation::put:
      range.bytes = rest.size();
      break;
    case memory_operation::get:
      range.bytes = take<std::uint64_t>(frame, rest);
      break;
    case memory_operation::atomic:
      atomic = take<atomic_request>(frame, rest);
      range.bytes = bytes_of(atomic.word);
      if (!valid(atomic)) bad_request(frame);
      break;
    default:
      bad_request(frame);
  }
  comm::out_archive value;
  comm::shared_segment* const segment = heap_.segment(allocation.segment);
  const std::span<std::byte> memory =
      segment == nullptr ? std::span<std::byte>() : segment->memory();
  if (const auto failure = check_access(memory.data(), memory.size(), range)) {
    value(failure);
    return reply(place_, frame, value, true);
  }
  std::byte* const at =
      memory.data() + std::uint64_t{allocation.allocation} * allocation_unit + range.offset;
  if (operation == memory_operation::put) {
    std::memcpy(at, rest.data(), rest.size());
  } else if (operation == memory_operation::get) {
    value(range.offset);
    value.append({at, range.bytes});
  } else {
    if (range.offset % range.bytes != 0) bad_request(frame);
    value(apply_atomic(atomic, at));
  }
  reply(place_, frame, value);
}

void place_memory::serve_key(const comm::inbound_frame& frame, const allocation_name& allocation) {
  comm::out_archive value;
  comm::shared_segment* const segment = heap_.segment(allocation.segment);
  if (segment == nullptr) {
    value(access_failure{.fault = access_fault::no_allocation});
    return reply(place_, frame, value, true);
  }
  // An empty key says that the segment can be accessed by messages only.
  const auto key = shared_ == nullptr ? std::span<const std::byte>() : segment->key();
  value(std::uint64_t{segment->memory().size()}, std::vector<std::byte>(key.begin(), key.end()));
  reply(place_, frame, value);
}

}  // namespace apgas::inline v0::remote
