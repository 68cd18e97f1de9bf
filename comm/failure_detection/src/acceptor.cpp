// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "acceptor.hpp"

namespace apgas::inline v0::comm {

namespace {

// The time that this takes tells nothing of the token.
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
  for (const unauthenticated_peer& each : pending_) waited.push_back({each.connection.number(), POLLIN, 0});
}

void acceptor::look(const pollfd* found, time now) {
  const pollfd* const of_listeners = found;
  found += listeners_.size();
  for (auto who = pending_.begin(); who != pending_.end(); ++found) {
    const bool done = found->revents != 0 && read(*who, now);
    who = done ? pending_.erase(who) : std::next(who);
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
    unauthenticated_peer who{std::move(next), now, {}};
    if (!may_report(who.connection)) {
      reject(who, "is of another user", now);
      continue;
    }
    if (read(who, now)) continue;
    if (pending_.size() == most_pending) {
      reject(pending_.front(), "said nothing while many others came", now);
      pending_.pop_front();
    }
    pending_.push_back(std::move(who));
  }
}

bool acceptor::read(unauthenticated_peer& who, time now) {
  std::byte bytes[sizeof(detector_hello)];
  while (true) {
    // No byte more than the hello: what follows is for who takes the connection over.
    const ssize_t n = recv(who.connection.number(), bytes, who.hello.missing(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
      reject(who, "did not say who it is", now);
      return true;
    }
    std::span<const std::byte> rest(bytes, static_cast<std::size_t>(n));
    if (const auto hello = who.hello.take(rest)) return decide(who, *hello, now);
  }
}

bool acceptor::decide(unauthenticated_peer& who, const detector_hello& hello, time now) {
  const detector_hello model;
  if (!std::equal(model.magic, model.magic + sizeof(model.magic), hello.magic)) {
    reject(who, "does not speak the language of places", now);
  } else if (!equal(hello.token, token_)) {
    reject(who, "is of another job", now);
  } else if (hello.version != model.version || expected_.erase(hello.from) == 0) {
    reject(who, "is no place that was waited for", now);
  } else {
    admit_(hello.from, std::move(who.connection));
  }
  return true;
}

void acceptor::tick(time now) {
  while (!pending_.empty() && now - pending_.front().since >= patience) {
    reject(pending_.front(), "did not say in time who it is", now);
    pending_.pop_front();
  }
}

void acceptor::reject(const unauthenticated_peer& who, const char* why, time now) {
  if (now < next_report_) {
    ++unreported_;
    return;
  }
  next_report_ = now + between_reports;
  const std::string more =
      unreported_ > 0 ? fmt::format(", and {} more before", std::exchange(unreported_, 0)) : "";
  report_(fmt::format("closed a connection from {}, which {}{}; the job goes on",
                      name_of_peer(who.connection), why, more));
}

}  // namespace apgas::inline v0::comm
