// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <utility>

#include <apgas/comm/out_of_memory.hpp>

#include "forwarding_transport.hpp"

namespace apgas::inline v0::launch {

forwarding_transport::forwarding_transport(comm::transport& inside)
    : transport(inside), inside_(inside), posted_(static_cast<std::size_t>(inside.size())) {
  inside_.attach();
}

forwarding_transport::~forwarding_transport() { inside_.detach(); }

void forwarding_transport::send(comm::rank dest, comm::buffer message) noexcept {
  post(dest, std::move(message));
  push();
}

bool forwarding_transport::pass_on(comm::rank dest, const comm::frame_header& header,
                                   std::span<const std::byte> payload) noexcept {
  const std::size_t bytes = comm::frame_bytes(payload.size());
  if (inside_.writes_frames(dest) && bytes <= written_frame_max) {
    inside_.write(dest, header, payload);
    return false;
  }
  comm::or_end_job(bytes, {"to", dest, nullptr}, [&] {
    comm::buffer message = pool().get(bytes);
    comm::write_frame(message.data(), header, payload);
    message.resize(bytes);
    posted_frames& to = *posted_[static_cast<std::size_t>(dest)];
    to.frames.fetch_add(1, base::relaxed);
    to.bytes.fetch_add(bytes, base::relaxed);
    inside_.post(dest, std::move(message));
  });
  return true;
}

comm::frame_counts forwarding_transport::written(comm::rank dest) noexcept {
  const posted_frames& to = *posted_[static_cast<std::size_t>(dest)];
  comm::frame_counts sum = inside_.written(dest);
  sum.frames += to.frames.load(base::relaxed);
  sum.bytes += to.bytes.load(base::relaxed);
  return sum;
}

void forwarding_transport::abort(int code) noexcept {
  inside_.abort(code);
  std::_Exit(code);
}

}  // namespace apgas::inline v0::launch
