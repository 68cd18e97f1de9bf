// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_task.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <link.h>

#include <apgas/base/assert.hpp>
#include <apgas/sync/flow_control.hpp>
#include <apgas/sync/remote_finish.hpp>

namespace apgas::inline v0::sync {
namespace {

// The addresses of the program's own code and data. A spawn site in a shared library is sent as
// unknown.
struct program_range {
  std::uintptr_t base = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

const program_range& program() {
  static const program_range range = [] {
    program_range r;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
          auto& out = *static_cast<program_range*>(result);
          out.base = info->dlpi_addr;
          out.begin = UINTPTR_MAX;
          for (std::uint16_t i = 0; i < info->dlpi_phnum; ++i) {
            const auto& segment = info->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD) continue;
            out.begin = std::min<std::uintptr_t>(out.begin, out.base + segment.p_vaddr);
            out.end =
                std::max<std::uintptr_t>(out.end, out.base + segment.p_vaddr + segment.p_memsz);
          }
          return 1;  // the first object is the program
        },
        &r);
    return r;
  }();
  return range;
}

}  // namespace

std::uint64_t encode_site(std::source_location site) noexcept {
  const auto at = std::bit_cast<std::uintptr_t>(site);
  const program_range& range = program();
  return at >= range.begin && at < range.end ? at - range.base : 0;
}

std::source_location decode_site(std::uint64_t code) noexcept {
  const program_range& range = program();
  const std::uintptr_t at = range.base + code;
  if (code == 0 || at < range.begin || at >= range.end) return {};
  return std::bit_cast<std::source_location>(at);
}

void start_payload(comm::out_archive& payload, std::source_location site) {
  payload(encode_site(site));
}

namespace {

// Waits until a task may be sent to `dest`. A task that came from another place may answer without
// waiting, up to its allowance: if it waited, it would keep its stack, and since the task it
// answers counts as started, more tasks would keep coming. Other tasks wait until this place has
// started what came to it, and until `dest` has started what was sent to it.
[[gnu::noinline]] void wait_for_turn(scheduler::fiber& self, place_state& place, comm::rank dest,
                                     const comm::out_archive& payload) {
  const std::size_t bytes = comm::frame_bytes(payload.size());
  if (bytes <= self.allowance) {
    self.allowance -= static_cast<std::uint32_t>(bytes);
    return;
  }
  std::uint64_t site = 0;  // the payload begins with it (start_payload)
  std::memcpy(&site, payload.bytes().data(), sizeof site);
  const scheduler::call_site where = decode_site(site);
  for (;;) {
    place.flow->wait_until_caught_up(where);
    if (!place.endpoint->congested(dest)) break;
    scheduler::yield();
  }
  place.flow->wait_for_room(dest, where);
}

bool must_wait(const place_state& place, comm::rank dest) noexcept {
  return place.flow->full(dest) || place.flow->behind() || place.endpoint->congested(dest);
}

// Waits while flow control or the network requires it, and counts the task.
void admit(scheduler::fiber& self, place_state& place, comm::rank dest,
           const comm::out_archive& payload) {
  const std::size_t bytes = comm::frame_bytes(payload.size());
  if (must_wait(place, dest)) [[unlikely]]
    wait_for_turn(self, place, dest, payload);
  place.flow->on_send(dest, bytes);
}

}  // namespace

void send_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
               comm::out_archive& payload, std::uint8_t flags) {
  place_state& place = place_of(self);
  finish_core& finish = finish_of(self);
  comm::frame_header header{.kind = comm::frame_kind::task, .flags = flags, .handler = thunk};
  remote_finishes::add_reducer(finish, header, payload);
  if (!is_unlimited(header)) {
    // A frame that waits to be sent takes a few KiB at most, so the limits are not checked for each
    // of its tasks.
    if (flags == flag_spawn && place.finishes->add_task(finish, dest, header, payload.bytes(),
                                                        place.flow->added_to(dest))) {
      return;
    }
    admit(self, place, dest, payload);
  }
  place.finishes->send_task(finish, dest, header, payload);
  place.task_scheduler->keep_polling();
}

void send_uncounted_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                         comm::out_archive& payload) {
  place_state& place = place_of(self);
  comm::frame_header header{.kind = comm::frame_kind::task, .flags = flag_spawn, .handler = thunk};
  admit(self, place, dest, payload);
  place.finishes->send_uncounted(finish_of(self), dest, header, payload);
  place.task_scheduler->keep_polling();
}

void send_local_closure(scheduler::fiber& self, comm::handler_id thunk, void* closure,
                        std::source_location site) {
  comm::out_archive out;
  start_payload(out, site);
  out(reinterpret_cast<std::uintptr_t>(closure));
  send_uncounted_task(self, place_of(self).here, thunk, out);
}

void* take_local_closure(remote_task& task) {
  if (task.frame.source != task.place->here) {
    base::fatal(fmt::format("place {} sent a task that only this place can send to itself",
                            task.frame.source));
  }
  const auto address = task.arguments().read<std::uintptr_t>();
  task.done();
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace apgas::inline v0::sync
