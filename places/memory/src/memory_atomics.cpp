// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/memory_atomics.hpp>

namespace apgas::inline v0::remote {
namespace {

template <class T>
std::uint64_t apply(const atomic_request& r, std::byte* at) noexcept {
  return to_word(apply_atomic(r.operation, reinterpret_cast<T*>(at), from_word<T>(r.operand),
                              from_word<T>(r.second)));
}

}  // namespace

bool valid(const atomic_request& r) noexcept {
  const bool real = r.word == atomic_word::real32 || r.word == atomic_word::real64;
  const auto last = real ? atomic_operation::add : atomic_operation::bit_xor;
  return bytes_of(r.word) != 0 && atomic_operation::load <= r.operation && r.operation <= last;
}

std::uint64_t apply_atomic(const atomic_request& request, std::byte* at) noexcept {
  switch (request.word) {
    case atomic_word::bits8:
      return apply<std::uint8_t>(request, at);
    case atomic_word::bits16:
      return apply<std::uint16_t>(request, at);
    case atomic_word::bits32:
      return apply<std::uint32_t>(request, at);
    case atomic_word::bits64:
      return apply<std::uint64_t>(request, at);
    case atomic_word::real32:
      return apply<float>(request, at);
    case atomic_word::real64:
      return apply<double>(request, at);
  }
  return 0;
}

}  // namespace apgas::inline v0::remote
