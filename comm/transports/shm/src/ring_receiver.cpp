// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>

#include "rank_names.hpp"
#include "ring_receiver.hpp"

namespace apgas::inline v0::comm {

namespace {

std::string name_of_host() {
  char name[256] = {};
  write_host_name(name, sizeof name);
  return text_of(name, sizeof name);
}

buffer copy_of(buffer_pool& pool, const std::byte* content, std::size_t length) {
  buffer made = pool.get(length);
  std::memcpy(made.data(), content, length);
  made.resize(length);
  return made;
}

void deliver(message_sink& sink, rank source, buffer& message) noexcept {
  if (message) sink.on_message(source, std::exchange(message, buffer{}));
}

}  // namespace

ring_receiver::ring_receiver(const mapped_segment& own, rank source, std::size_t index,
                             std::size_t places, buffer_pool& pool)
    : source_(source),
      host_(name_of_host()),
      pool_(pool),
      ring_(own.positions(index), ring_capacity(places)),
      bytes_(own.ring(index)) {}

void ring_receiver::refuse(const char* what) const noexcept {
  base::fatal(fmt::format("place {} has written {} into the memory that it shares with this place",
                          source_, what));
}

bool ring_receiver::take_several(message_sink& sink, std::uint64_t run,
                                 std::uint64_t latest_run) noexcept {
  taken_ = 0;
  or_end_job(longest_record, {"from", source_, host_.c_str()}, [&] {
    buffer frames;
    while (!ring_.empty() && taken_ < most_bytes && take_record(sink, run, latest_run, frames)) {
    }
    deliver(sink, source_, frames);
  });
  // Not earlier, because a sender whose ring is empty knows that everything has been delivered.
  if (taken_ != 0) ring_.release();
  return taken_ != 0;
}

record_word ring_receiver::next_word() const noexcept {
  record_word word;
  std::memcpy(&word, bytes_ + ring_.offset(), sizeof word);
  return word;
}

// Takes a frame that has come alone, from the copy beside the position. Returns false if it is not
// the only record, if more records have come meanwhile, or if the buffer for it is in use.
inline bool ring_receiver::take_copy(message_sink& sink) noexcept {
  std::uint64_t words[copied_words];
  const std::uint64_t bytes = ring_.left();
  if (bytes < record_bytes(frame_bytes(0)) || bytes > record_bytes(longest_copy) ||
      !ring_.read_copy(bytes, words)) {
    return false;
  }
  frame_header header;
  std::memcpy(&header, words, sizeof header);
  const std::size_t length = frame_bytes(header.length);
  return bytes == record_bytes(length) &&
         hand_on_single(sink, reinterpret_cast<const std::byte*>(words), length);
}

// Takes a short record of frames that has come alone. Returns false if the next record is not one,
// or cannot be right, or if the buffer for it is in use.
bool ring_receiver::take_single(message_sink& sink, std::uint64_t run) noexcept {
  if (ring_.has_copy(tag_of_run(run)) && take_copy(sink)) return true;
  const record_word word = next_word();
  const std::uint64_t offset = ring_.offset();
  return word.kind == record_kind::frames && word.run == run_of_record(run) &&
         word.position == record_position(offset) && ring_.left() == record_bytes(word.length) &&
         word.length <= single_bytes &&
         hand_on_single(sink, bytes_ + offset + sizeof word, word.length);
}

// Delivers the `length` bytes of the only record; the next look() releases it.
inline bool ring_receiver::hand_on_single(message_sink& sink, const std::byte* frames,
                                          std::size_t length) noexcept {
  if (!single_) make_single();
  buffer single = single_->take();
  if (!single) return false;
  copy_bytes(single.data(), frames, length);
  single.resize(length);
  sink.on_message(source_, std::move(single));
  ring_.pass(record_bytes(length));
  return true;
}

[[gnu::cold]] void ring_receiver::make_single() noexcept {
  or_end_job(single_bytes, {"from", source_, host_.c_str()},
             [&] { single_.emplace(single_bytes); });
}

// Takes the next record, unless it belongs to the next run. `frames` are those that have not been
// delivered yet.
bool ring_receiver::take_record(message_sink& sink, std::uint64_t run, std::uint64_t latest_run,
                                buffer& frames) {
  const std::uint64_t offset = ring_.offset();
  const record_word word = next_word();
  const std::uint64_t bytes = record_bytes(word.length);
  if (word.position != record_position(offset) || word.length > longest_content ||
      !ring_.holds(bytes)) {
    refuse("an invalid record");
  }
  if (word.run != run_of_record(run)) {
    if (latest_run > run && word.run == run_of_record(latest_run)) return false;
    refuse("a record of another run");
  }
  const std::byte* const content = bytes_ + offset + sizeof word;
  if (word.kind == record_kind::frames) {
    if (frames && frames.size() + word.length > frames.capacity()) deliver(sink, source_, frames);
    if (!frames) {
      frames = pool_.get(std::max<std::size_t>(word.length, std::min(ring_.left(), most_joined)));
    }
    std::memcpy(frames.data() + frames.size(), content, word.length);
    frames.resize(frames.size() + word.length);
  } else {
    deliver(sink, source_, frames);
    take_part(sink, word, content);
  }
  ring_.pass(bytes);
  taken_ += bytes;
  return true;
}

void ring_receiver::take_part(message_sink& sink, const record_word& word,
                              const std::byte* content) {
  std::size_t length = word.length;
  switch (word.kind) {
    case record_kind::message: {
      buffer whole = copy_of(pool_, content, length);
      deliver(sink, source_, whole);
      return;
    }
    case record_kind::begin:
      if (assembled_ || length < sizeof expected_) refuse("a message within another one");
      std::memcpy(&expected_, content, sizeof expected_);
      content += sizeof expected_;
      length -= sizeof expected_;
      if (expected_ > frame_bytes(max_payload_bytes)) refuse("a message that is too long");
      or_end_job(expected_, {"from", source_, host_.c_str()},
                 [&] { assembled_ = pool_.get(expected_); });
      break;
    case record_kind::more:
      if (!assembled_) refuse("a part of no message");
      break;
    default:
      refuse("a record of an unknown kind");
  }
  const std::size_t end = assembled_.size();
  if (length > expected_ - end) refuse("a message that is longer than announced");
  std::memcpy(assembled_.data() + end, content, length);
  assembled_.resize(end + length);
  if (end + length == expected_) deliver(sink, source_, assembled_);
}

}  // namespace apgas::inline v0::comm
