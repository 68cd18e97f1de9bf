// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/utf8.hpp>

#include <algorithm>
#include <cstddef>

namespace apgas::inline v0::base {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

// Returns how many bytes the valid character has with which `text` begins; 0 if there is none.
std::size_t character_bytes(std::string_view text) noexcept {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  }
  // Longer forms of characters that have a shorter one, surrogates, and what is above U+10FFFF.
  const unsigned second = byte_at(text, 1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : bytes;
}

}  // namespace

std::string_view as_utf8(std::string_view text, std::string& storage) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::size_t valid = 0;
  while (valid < text.size()) {
    const std::size_t bytes = character_bytes(text.substr(valid));
    if (bytes == 0) break;
    valid += bytes;
  }
  if (valid == text.size()) return text;
  storage.assign(text.substr(0, valid));
  while (valid < text.size()) {
    const std::size_t bytes = character_bytes(text.substr(valid));
    storage += bytes == 0 ? replacement : text.substr(valid, bytes);
    valid += std::max<std::size_t>(bytes, 1);
  }
  return storage;
}

}  // namespace apgas::inline v0::base
