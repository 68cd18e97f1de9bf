// SPDX-License-Identifier: Apache-2.0
#include <apgas/glb.hpp>

#include <ostream>

#include <fmt/format.h>

#include <apgas/errors.hpp>

namespace apgas::inline v0 {

glb_statistics& glb_statistics::operator+=(const glb_statistics& other) noexcept {
  done += other.done;
  chunks += other.chunks;
  shared += other.shared;
  asked_at_random += other.asked_at_random;
  asked_lifelines += other.asked_lifelines;
  refused += other.refused;
  pieces_sent += other.pieces_sent;
  pieces_received += other.pieces_received;
  dormant += other.dormant;
  return *this;
}

namespace {

std::string table_row(const std::string& head, const glb_statistics& s) {
  return fmt::format("{:<6}{:>13}{:>10}{:>8}{:>8}{:>10}{:>8}{:>7}{:>9}{:>8}\n", head, s.done,
                     s.chunks, s.shared, s.asked_at_random, s.asked_lifelines, s.refused,
                     s.pieces_sent, s.pieces_received, s.dormant);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const std::vector<glb_statistics>& places) {
  out << fmt::format("{:<6}{:>13}{:>10}{:>8}{:>8}{:>10}{:>8}{:>7}{:>9}{:>8}\n", "place", "done",
                     "chunks", "shared", "random", "lifelines", "refused", "sent", "received",
                     "dormant");
  glb_statistics sum;
  for (std::size_t p = 0; p < places.size(); ++p) {
    out << table_row(std::to_string(p), places[p]);
    sum += places[p];
  }
  return out << table_row("all", sum);
}

namespace remote {

void check_glb_parameters(const glb_parameters& p) {
  if (p.random_victims < 0) {
    throw illegal_operation(fmt::format(
        "glb was called with random_victims = {}, but it must be 0 or more", p.random_victims));
  }
  if (p.radix < 2) {
    throw illegal_operation(fmt::format(
        "glb was called with radix = {}, but it must be 2, which makes a hypercube, or more",
        p.radix));
  }
  if (p.workers < 0) {
    throw illegal_operation(fmt::format(
        "glb was called with workers = {}, but it must be a number of workers, or 0 for all",
        p.workers));
  }
}

void throw_split_lost(std::size_t before, std::size_t kept, std::size_t given) {
  throw illegal_operation(fmt::format(
      "a bag of glb had {} tasks before split() and {} after it, {} of them in the new bag: split "
      "must neither lose nor duplicate tasks; check split() and size() of the bag",
      before, kept + given, given));
}

void throw_merge_lost(std::size_t before, std::size_t put_in, std::size_t after) {
  throw illegal_operation(
      fmt::format("a bag of glb had {} tasks, merge() put {} more in, and then it had {}: merge "
                  "must neither lose nor duplicate tasks; check merge() and size() of the bag",
                  before, put_in, after));
}

void throw_sending_lost(std::size_t sent, std::size_t arrived) {
  throw illegal_operation(
      fmt::format("a bag of glb was sent with {} tasks and arrived with {}: serialize must neither "
                  "lose nor duplicate tasks; check serialize and size() of the bag",
                  sent, arrived));
}

void throw_too_many_done(std::size_t wanted, std::size_t done) {
  throw illegal_operation(
      fmt::format("process({}) of a bag of glb returned {}: it must return how many tasks it "
                  "processed, which is at most its argument",
                  wanted, done));
}

}  // namespace remote
}  // namespace apgas::inline v0
