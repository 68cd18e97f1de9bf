// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cerrno>

#include <unistd.h>

#include "readable.hpp"

namespace apgas::inline v0::scheduler {

bool is_text(const void* at) noexcept {
  return access(static_cast<const char*>(at), F_OK) == 0 ||
         (errno != EFAULT && errno != ENAMETOOLONG);
}

bool is_readable(const std::source_location& site) noexcept {
  const auto* const data = std::bit_cast<const char*>(site);
  if (data == nullptr) return true;
  return is_text(data) && is_text(data + 3 * sizeof(void*) - 1) && is_text(site.file_name()) &&
         is_text(site.function_name());
}

}  // namespace apgas::inline v0::scheduler
