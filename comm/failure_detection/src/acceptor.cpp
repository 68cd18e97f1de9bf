// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "acceptor.hpp"

namespace apgas::inline v0::comm {

namespace {

// The comparison takes the same time for every token, so timing reveals nothing about it.
bool equal(const detector_token& a, const detector_token& b) noexcept {
  std::byte difference{0};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{0};
}

}  // namespace

acceptor::acceptor(const detector_token& token, std::set<rank> expected, admit_function admit,
                   report_function report)
    : token_(token),
      expected_(std::move(expected)),
      admit_(std::move(admit)),
      report_(std::move(report)) {}

void acceptor::open(descriptor listener) {
  if (!expected_.empty()) listeners_.push_back(std::move(listener));
}

void acceptor::add_to(std::vector<pollfd>& waited) const {
  for (const descriptor& each : listeners_) waited.push_back({each.number(), POLLIN, 0});
  for (const unauthenticated_peer& each : pending_)
    waited.push_back({each.connection.number(), POLLIN, 0});
}

void acceptor::look(const pollfd* found, time now) {
  const pollfd* const of_listeners = found;
  found += listeners_.size();
  for (auto peer = pending_.begin(); peer != pending_.end(); ++found) {
    const bool done = found->revents != 0 && read(*peer, now);
    peer = done ? pending_.erase(peer) : std::next(peer);
  }
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (of_listeners[i].revents != 0) accept_all(listeners_[i], now);
  }
  if (expected_.empty()) {
    listeners_.clear();
    pending_.clear();
  }
}

void acceptor::accept_all(const descriptor& listener, time now) {
  for (descriptor next = accept_one(listener); next; next = accept_one(listener)) {
    unauthenticated_peer peer{std::move(next), now, {}};
    if (!is_allowed_peer(peer.connection)) {
      reject(peer, "belongs to another user", now);
      continue;
    }
    if (read(peer, now)) continue;
    if (pending_.size() == max_pending) {
      reject(pending_.front(), "sent no hello while many others were waiting", now);
      pending_.pop_front();
    }
    pending_.push_back(std::move(peer));
  }
}

bool acceptor::read(unauthenticated_peer& peer, time now) {
  std::byte bytes[sizeof(detector_hello)];
  while (true) {
    // Reads no byte beyond the hello: what follows is for the user of the connection.
    const ssize_t n = recv(peer.connection.number(), bytes, peer.hello.missing(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
      reject(peer, "ended before its hello was complete", now);
      return true;
    }
    std::span<const std::byte> rest(bytes, static_cast<std::size_t>(n));
    if (const auto hello = peer.hello.take(rest)) return decide(peer, *hello, now);
  }
}

bool acceptor::decide(unauthenticated_peer& peer, const detector_hello& hello, time now) {
  const detector_hello model;
  if (!std::equal(model.magic, model.magic + sizeof(model.magic), hello.magic)) {
    reject(peer, "did not send the hello of a place", now);
  } else if (!equal(hello.token, token_)) {
    reject(peer, "has the token of another job", now);
  } else if (hello.version != model.version || expected_.erase(hello.from) == 0) {
    reject(peer, "is not a place that was expected", now);
  } else {
    admit_(hello.from, std::move(peer.connection));
  }
  return true;
}

void acceptor::tick(time now) {
  while (!pending_.empty() && now - pending_.front().since >= hello_timeout) {
    reject(pending_.front(), "sent no complete hello in time", now);
    pending_.pop_front();
  }
}

void acceptor::reject(const unauthenticated_peer& peer, const char* why, time now) {
  if (now < next_report_) {
    ++unreported_;
    return;
  }
  next_report_ = now + report_interval;
  const std::string more =
      unreported_ > 0 ? fmt::format(", and {} earlier ones", std::exchange(unreported_, 0)) : "";
  report_(fmt::format("closed a connection from {}, which {}{}; the job continues",
                      name_of_peer(peer.connection), why, more));
}

}  // namespace apgas::inline v0::comm
