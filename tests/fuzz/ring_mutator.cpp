// SPDX-License-Identifier: Apache-2.0

// Mutates the contents of a ring and then makes most of its records valid again. Otherwise no input
// would get past the first one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ring_input.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace apgas_fuzz;
  using apgas::comm::record_word;
  size = LLVMFuzzerMutate(data, size, most);
  const bool words = seed % 8 != 0;
  const bool lengths = seed / 8 % 4 != 0;
  const bool kinds = seed / 32 % 4 != 0;
  const bool positions = seed / 128 % 4 != 0;
  const bool copies = seed / 512 % 2 != 0;
  ring_input input;
  if (!words || size < sizeof input) return size;
  std::memcpy(&input, data, sizeof input);
  const std::uint64_t first = first_position(input);
  std::size_t at = sizeof input;
  std::size_t last = at;
  while (size - at >= sizeof(record_word)) {
    last = at;
    const std::size_t room = (size - at - sizeof(record_word)) / 8 * 8;
    record_word word;
    std::memcpy(&word, data + at, sizeof word);
    if (lengths && word.length > room) word.length %= static_cast<std::uint32_t>(room + 1);
    if (kinds)
      word.kind = apgas::comm::record_kind{
          static_cast<std::uint8_t>(1 + static_cast<unsigned>(word.kind) % 4)};
    word.run = ring_run;
    const std::uint64_t offset =
        (first + at - sizeof input) % apgas::comm::ring_capacity(ring_places);
    word.position = apgas::comm::record_position(offset);
    std::memcpy(data + at, &word, sizeof word);
    const std::uint64_t bytes = apgas::comm::record_bytes(word.length);
    if (bytes > size - at) break;
    at += bytes;
  }
  if (positions) {
    input.written[0] = static_cast<std::int32_t>(last - sizeof input);
    input.written[1] = static_cast<std::int32_t>(at - sizeof input);
  }
  const std::size_t least = apgas::comm::record_bytes(apgas::comm::frame_bytes(0));
  if (copies && at - last >= least && at - last <= sizeof(record_word) + sizeof input.copy) {
    const std::size_t padded = at - last - least;
    const auto payload =
        static_cast<std::uint32_t>(padded - std::min<std::size_t>(padded, seed / 1024 % 8));
    std::memcpy(input.copy, &payload, sizeof payload);
    input.written[1] |= static_cast<std::int32_t>(apgas::comm::tag_of_run(ring_run) << 1U | 1U);
  }
  std::memcpy(data, &input, sizeof input);
  return size;
}
