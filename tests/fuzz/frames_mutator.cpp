// SPDX-License-Identifier: Apache-2.0

// Mutates a message and then makes most of its headers valid again. Otherwise no input would get
// past the first checksum.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <apgas/comm/message.hpp>
#include <apgas/comm/task_list.hpp>

#include "frames.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace apgas::comm;
  size = LLVMFuzzerMutate(data, size, most);
  const bool checksums = seed % 8 != 0;
  const bool lengths = seed / 8 % 4 != 0;
  const bool kinds = seed / 32 % 4 != 0;
  if (!checksums) return size;
  for (std::size_t at = 0; size - at >= sizeof(frame_header);) {
    const std::size_t room = (size - at - sizeof(frame_header)) / 8 * 8;
    frame_header header;
    std::memcpy(&header, data + at, sizeof header);
    if (lengths && header.length > room) {
      header.length = static_cast<std::uint32_t>(header.length % (room + 1));
    }
    if (kinds) {
      header.kind = static_cast<frame_kind>((static_cast<unsigned>(header.kind) + 4) % 5 + 1);
      if (is_task_kind(header.kind)) header.handler = apgas_fuzz::task_in_corpus;
    }
    if (header.kind == frame_kind::tasks && room >= 24 && seed / 128 % 4 != 0) {
      const task_list list{static_cast<std::uint32_t>(1 + seed / 512 % ((room - 16) / 8)), 8};
      header.length = static_cast<std::uint32_t>(list.payload_bytes());
      std::memcpy(data + at + sizeof header + header.length - sizeof list, &list, sizeof list);
    }
    header.check = header_check(header);
    std::memcpy(data + at, &header, sizeof header);
    if (header.length > room) break;
    at += frame_bytes(header.length);
  }
  return size;
}
