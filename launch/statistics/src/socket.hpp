// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <unistd.h>

namespace apgas::inline v0::launch {

// Owns a file descriptor.
class socket_handle {
 public:
  explicit socket_handle(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  socket_handle(socket_handle&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  socket_handle& operator=(socket_handle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~socket_handle() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

// Returns a socket that accepts connections at `where`: a port of the loopback interface, or a
// numeric address and a port, such as 0.0.0.0:9100 or [::]:9100.
// Throws: launch_error if that is not possible; it names the setting APGAS_METRICS.
socket_handle listen_at(const std::string& where);

}  // namespace apgas::inline v0::launch
