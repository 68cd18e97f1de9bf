// SPDX-License-Identifier: Apache-2.0
#pragma once

// A frame of several tasks. Task frames to one rank whose headers agree, and whose payloads begin
// with the same eight bytes, become one frame while they wait to be sent: its header and these
// eight bytes are sent once, and only the rest of each payload, its element, is added.
//
//   frame_header                      kind tasks; otherwise that of the first task frame
//   8 bytes                           with which each of the payloads began
//   elements                          of equal length, each padded to task_list::stride() bytes
//   task_list                         how many, and their length
//
// A frame of one task keeps the form of a task frame, so it takes no bytes for a list.
//
// Wire: docs/protocols/wire.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <apgas/base/atomic.hpp>
#include <apgas/comm/message.hpp>

namespace apgas::inline v0::comm {

// How many bytes at the beginning of their payloads the tasks of a list have in common.
inline constexpr std::size_t task_list_prefix = 8;

struct task_list {
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  // of an element, without its padding

  // An element takes at least 8 bytes, so that the size of a frame grows with each task.
  constexpr std::size_t stride() const noexcept {
    return padded(std::max<std::size_t>(bytes, std::size_t{1}));
  }
  // The length of the payload, including the list itself.
  constexpr std::size_t payload_bytes() const noexcept {
    return task_list_prefix + count * stride() + sizeof(task_list);
  }
  constexpr std::size_t offset(std::size_t i) const noexcept {
    return task_list_prefix + i * stride();
  }
};

// Whether this can be the payload of a frame of kind tasks.
inline bool is_task_list(std::span<const std::byte> payload) noexcept {
  if (payload.size() < sizeof(task_list)) return false;
  task_list list;
  std::memcpy(&list, payload.data() + payload.size() - sizeof list, sizeof list);
  return list.count != 0 && list.bytes <= max_payload_bytes &&
         list.payload_bytes() == payload.size();
}

// The tasks of a frame of kind task or tasks.
class frame_tasks {
 public:
  // Requires: the payload has at least task_list_prefix bytes; if the kind is tasks, it is a list.
  frame_tasks(frame_kind kind, std::span<const std::byte> payload) noexcept : payload_(payload) {
    if (kind == frame_kind::tasks) {
      std::memcpy(&list_, payload.data() + payload.size() - sizeof list_, sizeof list_);
    } else {
      list_ = {1, static_cast<std::uint32_t>(payload.size() - task_list_prefix)};
    }
  }
  std::uint32_t count() const noexcept { return list_.count; }
  // The length of each element.
  std::uint32_t bytes() const noexcept { return list_.bytes; }
  // The element of task i: the bytes of its payload behind the common prefix.
  std::span<const std::byte> element(std::size_t i) const noexcept {
    return payload_.subspan(list_.offset(i), list_.bytes);
  }

 private:
  std::span<const std::byte> payload_;
  task_list list_;
};

// The frame at the end of a batch, to which tasks can be added until the batch is sent or gets
// another frame.
//
//   handler_   written by the holder of the batch's lock, read by any thread
//   the rest   used by the holder of that lock
class growing_frame {
 public:
  // Longer elements are not added. They are better off without another copy under a lock.
  static constexpr std::size_t element_bytes_max = 256;

  // A frame with such a payload has been written to `frame`, at the end of the batch.
  // Requires: end() was called since the last begin().
  void begin(std::byte* frame, const frame_header& header, std::size_t payload) noexcept {
    if (header.kind != frame_kind::task || payload < task_list_prefix ||
        payload > task_list_prefix + element_bytes_max) {
      return;
    }
    frame_ = frame;
    list_ = {1, static_cast<std::uint32_t>(payload - task_list_prefix)};
    stride_ = list_.stride();
    end_ = frame + sizeof header + list_.offset(1);
    finish_ = header.finish;
    flags_ = header.flags;
    std::memcpy(&prefix_, first_payload(), sizeof prefix_);
    handler_.store(header.handler, base::relaxed);
  }

  // Whether add() is worth trying.
  // Context: any thread.
  bool may_take(const frame_header& header) const noexcept {
    return handler_.load(base::relaxed) == header.handler;
  }

  // Adds a task, if its frame would be equal to the first one apart from its element, `check` and
  // `credit`. Returns by how many bytes the batch has grown, at most `room`; 0 if the task was not
  // added.
  std::size_t add(const frame_header& header, std::span<const std::byte> payload,
                  std::size_t room) noexcept {
    if (!may_take(header) || payload.size() != task_list_prefix + list_.bytes ||
        header.finish != finish_ || ((header.flags ^ flags_) & payload_flags) != 0 ||
        std::memcmp(&prefix_, payload.data(), sizeof prefix_) != 0) {
      return 0;
    }
    std::size_t grown = stride_;
    if (list_.count == 1) [[unlikely]] {  // from a frame of one task
      grown = list_bytes(2) - padded(task_list_prefix + list_.bytes);
      // The element of the first task has no bytes in its own frame if it is empty.
      if (list_.bytes == 0 && grown <= room) std::memset(end_ - stride_, 0, stride_);
    }
    if (grown > room) return 0;
    ++list_.count;
    std::byte* const to = std::exchange(end_, end_ + stride_);
    std::memset(to + stride_ - 8, 0, 8);  // the padding is initialised
    copy_bytes(to, payload.data() + task_list_prefix, list_.bytes);
    return grown;
  }

  // Completes the frame, to which nothing can be added afterwards.
  void end() noexcept {
    if (handler_.load(base::relaxed) == 0) return;
    handler_.store(0, base::relaxed);
    if (list_.count == 1) return;
    frame_header header;
    std::memcpy(&header, frame_, sizeof header);
    header.kind = frame_kind::tasks;
    const std::size_t payload = list_.payload_bytes();
    std::memcpy(first_payload() + payload - sizeof list_, &list_, sizeof list_);
    write_header(frame_, header, payload);
  }

 private:
  std::byte* first_payload() const noexcept { return frame_ + sizeof(frame_header); }
  std::size_t list_bytes(std::uint32_t count) const noexcept {
    return task_list{count, list_.bytes}.payload_bytes();
  }

  // The fields that the tasks have in common are kept here, because loads from a frame that has
  // just been written stall.
  base::atomic<std::uint64_t> handler_{0};  // 0: nothing can be added
  std::byte* frame_ = nullptr;
  std::byte* end_ = nullptr;  // where the next element begins
  std::size_t stride_ = 0;    // of an element in bytes
  std::uint64_t finish_ = 0;
  std::uint64_t prefix_ = 0;
  task_list list_;
  std::uint8_t flags_ = 0;
};

}  // namespace apgas::inline v0::comm
