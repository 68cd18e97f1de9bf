// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "mixing_transport.hpp"

namespace apgas::inline v0::comm {

bool mixing_transport::progress(message_sink& sink) noexcept {
  if (inbox_.maybe_filled()) mix();
  return local_transport::progress(sink);
}

// Mixes the messages in the inbox with those that it took from there before.
void mixing_transport::mix() {
  const std::scoped_lock guard(progress_lock_);
  std::vector<message_chain> of_sender(static_cast<std::size_t>(size()));
  std::vector<rank> senders;
  const auto sort = [&](message_chain& messages) {
    while (!messages.empty()) {
      const rank source = messages.front_peer();
      message_chain& own = of_sender[static_cast<std::size_t>(source)];
      if (own.empty()) senders.push_back(source);
      own.push_back(source, messages.pop_front());
    }
  };
  sort(arrived_);
  message_chain fresh = inbox_.take_all();
  sort(fresh);
  std::ranges::sort(senders);
  while (!senders.empty()) {
    const std::size_t i = order_.below(static_cast<std::uint32_t>(senders.size()));
    message_chain& own = of_sender[static_cast<std::size_t>(senders[i])];
    arrived_.push_back(senders[i], own.pop_front());
    if (own.empty()) senders.erase(senders.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace apgas::inline v0::comm
