// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/frame_receiver.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>
#include <apgas/comm/task_list.hpp>
#include <apgas/sync/flow_control.hpp>
#include <apgas/sync/registration_transfer.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_phases.hpp>
#include <apgas/sync/task.hpp>

// What happens to a frame that arrives, and how its tasks run.
namespace apgas::inline v0::sync {
namespace {

// Removes the reducer of a finish_reduce from the end of a payload. Returns 0 if there is none.
comm::handler_id take_reducer(std::uint8_t flags, std::span<const std::byte>& payload) noexcept {
  comm::handler_id reducer = 0;
  if ((flags & flag_collecting) == 0 || payload.size() < sizeof reducer) return 0;
  payload = payload.first(payload.size() - sizeof reducer);
  std::memcpy(&reducer, payload.data() + payload.size(), sizeof reducer);
  return reducer;
}

void report_start(place_state& place, comm::rank source, std::size_t bytes) {
  if (const auto total = place.flow->on_start(source, bytes)) {
    place.endpoint->send(
        source, {.kind = comm::frame_kind::control, .handler = control_flow, .credit = *total},
        std::span<const std::byte>{});
    place.task_scheduler->keep_polling();
  }
}

// A task frame that waits for a worker. If its message has room behind the frames, it lies there.
struct arrived_task : scheduler::external_task {
  arrived_task(const comm::inbound_frame& frame, place_state& place, bool lies_in_message) noexcept
      : task(frame, place), in_message(lies_in_message) {}

  remote_task task;
  const bool in_message;
};

arrived_task& make_arrived_task(const comm::inbound_frame& frame, place_state& place) {
  frame.keep();
  comm::inbound_buffer& message = *frame.owner;
  std::byte* const end = message.data() + comm::padded(message.size());
  const std::byte* const frame_end = frame.payload.data() + comm::padded(frame.payload.size());
  if (frame_end != end || message.data() + message.capacity() < end + sizeof(arrived_task)) {
    return *new arrived_task(frame, place, false);
  }
  return *new (end) arrived_task(frame, place, true);
}

remote_task take(arrived_task& from) noexcept {
  remote_task task(std::move(from.task));
  if (!from.in_message) delete &from;
  return task;
}

// Runs the thunk of one task frame.
scheduler::task_counter* run_frame(scheduler::external_task* work,
                                   scheduler::fiber& self) noexcept {
  remote_task task = take(*static_cast<arrived_task*>(work));
  const arrived_mark runs_here(self, task);
  self.task.finish = task.finish;
  self.allowance = flow_control::answer_bytes;
  if (task.bytes != 0) report_start(*task.place, task.frame.source, task.bytes);
  // NOLINTNEXTLINE(modernize-use-auto): g++ 12 cannot deduce it
  task_thunk* const thunk = task.frame.handler->as<task_thunk>();
  if ((task.frame.header->flags & flag_registered) != 0) [[unlikely]]
    return run_registered(task, self, thunk);
  return thunk(task, self);
}

// Spawns of one finish that arrived in one message. They become the children of a single task, so
// none of them needs an allocation, a place in the external queue, or a count of its own.
struct task_batch : scheduler::external_task {
  place_state* place;
  finish_core* finish;
  comm::inbound_frame first;  // holds one reference to its buffer for each task
  std::uint64_t frames;
  std::uint64_t tasks;
  std::size_t bytes;

  static scheduler::task_counter* run_all(scheduler::external_task* work,
                                          scheduler::fiber& self) noexcept {
    const std::unique_ptr<task_batch> batch(static_cast<task_batch*>(work));
    self.task.finish = batch->finish;
    const comm::frame_header* next = batch->first.header;
    for (std::uint64_t i = 0; i < batch->frames; ++i) {
      const comm::frame_header* const header = next;
      const comm::frame_tasks all(header->kind, payload_of(header));
      const std::source_location site = decode_site(site_of(header));
      // Now, because the message may be gone when the last child has been spawned.
      next = reinterpret_cast<const comm::frame_header*>(
          reinterpret_cast<const std::byte*>(header) + comm::frame_bytes(header->length));
      for (std::uint32_t k = 0; k < all.count(); ++k) {
        const std::uint32_t starts = batch->next_starts();
        // This task has no values of task_local objects that its children could inherit.
        push_child(self,
                   child{header, batch->first.owner, batch->first.handler, all.element(k).data(),
                         batch->first.source, starts},
                   site, scheduler::slot_kind::task);
      }
    }
    return batch->finish;
  }

  // The start of a batch does not mean that its tasks have started; they may lie in the deque for a
  // long time. So of every eight children, the one that the worker takes last reports the start of
  // all eight. Returns the bytes that the next child reports; 0: it reports none.
  std::uint32_t next_starts() noexcept {
    constexpr std::uint64_t children_per_report = 8;
    std::size_t starts = 0;
    if (spawned_++ % children_per_report == 0) {
      starts = tasks <= children_per_report ? bytes : bytes / tasks * children_per_report;
      bytes -= starts;
      tasks -= std::min(children_per_report, tasks);
    }
    return static_cast<std::uint32_t>(starts);
  }

  static std::span<const std::byte> payload_of(const comm::frame_header* header) noexcept {
    return {reinterpret_cast<const std::byte*>(header + 1), header->length};
  }
  static std::uint64_t site_of(const comm::frame_header* header) noexcept {
    std::uint64_t code = 0;
    std::memcpy(&code, header + 1, sizeof code);
    return code;
  }

  struct child {
    const comm::frame_header* header;
    comm::inbound_buffer* owner;
    const comm::handler_entry* handler;
    const std::byte* element;
    comm::rank source;
    std::uint32_t starts;  // as next_starts()

    void operator()() const {
      scheduler::fiber& self = *scheduler::current_fiber();
      self.allowance = flow_control::answer_bytes;
      remote_task task;
      std::span payload(element, comm::frame_tasks(header->kind, payload_of(header)).bytes());
      static_cast<void>(take_reducer(header->flags, payload));
      task.frame = {source, header, payload, owner, handler, nullptr};
      task.site = site_of(header);
      task.place = &place_of(self);
      task.finish = &finish_of(self);
      const arrived_mark runs_here(self, task);
      if (starts != 0) report_start(*task.place, source, starts);
      // NOLINTNEXTLINE(modernize-use-auto): g++ 12 cannot deduce it
      task_thunk* const thunk = handler->as<task_thunk>();
      thunk(task, self);
    }
  };

 private:
  std::uint64_t spawned_ = 0;
};

}  // namespace

void frame_receiver::on_frame(const comm::inbound_frame& frame) noexcept {
  try {
    if (frame.header->kind == comm::frame_kind::reply && !batch_.frames) return on_reply(frame);
    hand_on(frame);
  } catch (const std::exception&) {
    failed(frame, comm::frame_bytes(frame.payload.size()));
  }
}

void frame_receiver::on_message_end() noexcept {
  if (!batch_.frames) return;
  const comm::inbound_frame first = batch_.first;
  const std::size_t bytes = batch_.bytes;
  try {
    take_batch();
  } catch (const std::exception&) {
    failed(first, bytes);
  }
}

// Ends the job because memory is exhausted. `bytes` is the size of all frames that were to be
// handled together. Context: a catch block.
void frame_receiver::failed(const comm::inbound_frame& first, std::size_t bytes) const noexcept {
  comm::message_failed(bytes, {"from", first.source, place_.endpoint->host(first.source).c_str()});
}

void frame_receiver::hand_on(const comm::inbound_frame& frame) {
  if (!comm::is_task_kind(frame.header->kind)) {
    take_batch();
    return hand_on_other(frame);
  }
  if (join_batch(frame)) return;
  if (frame.header->kind == comm::frame_kind::tasks) {
    base::fatal(fmt::format("place {} sent a malformed frame of tasks", frame.source));
  }
  on_task(frame);
}

void frame_receiver::on_reply(const comm::inbound_frame& frame) {
  pending_call* const call = place_.calls->take(frame.header->handler);
  if (call == nullptr) {
    base::fatal(
        fmt::format("place {} sent a reply to a call that no task waits for", frame.source));
  }
  if (frame.header->credit != 0) {
    place_.finishes->on_reply(call->finish(),
                              {.low = frame.header->credit,
                               .high = 0,
                               .balance = static_cast<std::int64_t>(frame.header->finish)});
  }
  call->on_reply(frame);
}

// Hands on a frame that is no task.
void frame_receiver::hand_on_other(const comm::inbound_frame& frame) {
  switch (frame.header->kind) {
    case comm::frame_kind::reply:
      on_reply(frame);
      break;
    case comm::frame_kind::finish:
      place_.finishes->on_message(frame);
      break;
    case comm::frame_kind::control:
      if (frame.header->handler == control_flow) {
        place_.flow->on_report(frame.source, frame.header->credit);
      } else if ((frame.header->handler & control_phase) != 0) {
        place_.phases->on_message(frame);
      } else if ((frame.header->handler & control_memory) != 0) {
        place_.memory->on_frame(frame);
      } else {
        control_(control_context_, frame);
      }
      break;
    case comm::frame_kind::task:
    case comm::frame_kind::tasks:
      break;  // join_batch() and on_task() take them
  }
}

// Adds a frame of tasks to the batch if it can be part of one, after handing on a batch to which it
// does not belong. Returns whether it was added.
bool frame_receiver::join_batch(const comm::inbound_frame& frame) {
  const bool may_join = (frame.header->flags & flag_all & ~flag_collecting) == flag_spawn &&
                        frame.payload.size() >= comm::task_list_prefix &&
                        frame.handler->as<task_thunk>() != nullptr;
  const bool joins = may_join && batch_.frames && frame.handler == batch_.first.handler &&
                     frame.header->finish == batch_.frames->finish &&
                     batch_.frames->add(*frame.header);
  if (!joins) take_batch();
  if (!may_join) return false;
  if (!batch_.frames) {
    batch_.first = frame;
    batch_.frames.emplace(frame);
  }
  batch_.tasks += comm::frame_tasks(frame.header->kind, frame.payload).count();
  batch_.bytes += comm::frame_bytes(frame.payload.size());
  return true;
}

void frame_receiver::take_batch() {
  if (!batch_.frames) return;
  const frame_batch taken = std::exchange(batch_, {});
  if (taken.first.header->kind == comm::frame_kind::task && taken.tasks == 1) {
    return on_task(taken.first);
  }
  taken.first.keep(static_cast<std::uint32_t>(taken.tasks));
  auto all = std::make_unique<task_batch>();
  all->run = task_batch::run_all;
  all->place = &place_;
  all->first = taken.first;
  all->frames = taken.frames->count;
  all->tasks = taken.tasks;
  all->bytes = taken.bytes;
  place_.flow->on_arrival(taken.bytes);
  std::span<const std::byte> payload = taken.first.payload;
  if (taken.first.header->kind == comm::frame_kind::tasks) {
    payload = comm::frame_tasks(comm::frame_kind::tasks, payload).element(0);
  }
  all->finish =
      &place_.finishes->on_tasks(*taken.frames, take_reducer(taken.first.header->flags, payload));
  place_.task_scheduler->submit_from_poll(all.release());
}

void frame_receiver::on_task(const comm::inbound_frame& frame) {
  arrived_task& arrived = make_arrived_task(frame, place_);
  remote_task& task = arrived.task;
  if (!is_unlimited(*frame.header)) {
    task.bytes = comm::frame_bytes(frame.payload.size());
    place_.flow->on_arrival(task.bytes);
  }
  const comm::handler_id reducer = take_reducer(frame.header->flags, task.frame.payload);
  if (frame.handler->as<task_thunk>() == nullptr ||
      task.frame.payload.size() < comm::task_list_prefix) {
    base::fatal(fmt::format("place {} sent a malformed task frame", frame.source));
  }
  std::memcpy(&task.site, task.frame.payload.data(), sizeof task.site);
  task.frame.payload = task.frame.payload.subspan(comm::task_list_prefix);
  task.finish = &place_.finishes->on_tasks(arrived_frames(frame), reducer);
  arrived.run = run_frame;
  place_.task_scheduler->submit_from_poll(&arrived);
}

}  // namespace apgas::inline v0::sync
