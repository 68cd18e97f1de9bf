// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <apgas/places/team_tree.hpp>

// The schedules of collectives through bulletin boards (bulletin_board.hpp), for the n members of
// one host. In each step a member publishes a post or reads one. All members read the posts
// themselves, so no member must run twice before another one can go on; this matters where there
// are more places than cores. Pure: it locks nothing and does not wait.
//
// Data are ranges of elements. A post has at most `part` elements; longer ranges are divided.
//
// The invariants are those of team_schedule.hpp. S1 here: each post is read by each member for
// which it was published, and a post that is read is published, with the same range.
namespace apgas::inline v0::remote {

struct board_step {
  bool publishes = false;
  std::size_t member = nobody;  // the reader, `nobody` for all; or the member whose post is read
  std::uint32_t number = 0;     // of the post, from 1 for each member
  span_of post{};               // the elements that it has, as its writer numbers them
  span_of range{};              // those of them that are read
  std::size_t into = 0;         // where the reader puts the first of them
  taking how = taking::store;
  bool takes = false;   // this member no longer needs the post and those before it
  bool begins = false;  // the first post that is combined with these elements

  static board_step publish(std::uint32_t number, const span_of& post,
                            std::size_t reader = nobody) noexcept {
    return {.publishes = true, .member = reader, .number = number, .post = post};
  }
  // The post was published as `post`, and is read for the last time.
  static board_step read(std::size_t from, std::uint32_t number, const span_of& post,
                         std::size_t into) noexcept {
    return {
        .member = from, .number = number, .post = post, .range = post, .into = into, .takes = true};
  }
};

// A range in parts. An empty one has one part.
class board_parts {
 public:
  board_parts(std::size_t elements, std::size_t part) noexcept : elements_(elements), part_(part) {}

  std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(std::max<std::size_t>((elements_ + part_ - 1) / part_, 1));
  }
  // Part i of the range that begins with element `first`.
  span_of of(std::size_t i, std::size_t first = 0) const noexcept {
    return {first + i * part_, first + std::min((i + 1) * part_, elements_)};
  }

 private:
  std::size_t elements_;
  std::size_t part_;
};

// A barrier: everybody publishes an empty post, and reads those of all others.
class board_barrier_schedule {
 public:
  board_barrier_schedule(std::size_t members, std::size_t me) noexcept : n_(members), me_(me) {}

  std::optional<board_step> next() noexcept {
    if (!published_) {
      published_ = true;
      return board_step::publish(1, {});
    }
    if (from_ == me_) ++from_;
    if (from_ >= n_) return std::nullopt;
    return board_step{.member = from_++, .number = 1};
  }

 private:
  std::size_t n_;
  std::size_t me_;
  bool published_ = false;
  std::size_t from_ = 0;
};

// An allreduce of one part: everybody publishes its elements, and combines those of all members, in
// their order.
class board_short_allreduce {
 public:
  board_short_allreduce(std::size_t members, std::size_t me, std::size_t elements) noexcept
      : n_(members), all_{0, elements}, from_(me == 0 ? 1 : 0) {}

  std::optional<board_step> next() noexcept {
    if (!published_) {
      published_ = true;
      return board_step::publish(1, all_);
    }
    if (from_ >= n_) return std::nullopt;
    const taking how = from_ == 0 ? taking::store : taking::mine_first;
    return board_step{.member = from_++, .number = 1, .post = all_, .range = all_, .how = how};
  }

 private:
  std::size_t n_;
  span_of all_;
  std::size_t from_;
  bool published_ = false;
};

// A long allreduce, by batches of a few parts. Everybody publishes the parts of a batch, combines
// its own share of each part, publishes the result, and reads the results of the others. With a
// `collector`, only this member reads the results, as in a reduce. A member publishes the result of
// a share after it has read that share of all others, so these may then overwrite it.
class board_long_allreduce {
 public:
  static constexpr std::uint32_t batch = 4;  // parts; twice as many posts

  board_long_allreduce(std::size_t members, std::size_t me, std::size_t elements, std::size_t part,
                       std::size_t collector = nobody) noexcept
      : n_(members), me_(me), collector_(collector), parts_(elements, part) {
    begin(0);
  }

  std::optional<board_step> next() noexcept {
    switch (now_) {
      case phase::publish:
        if (k_ < count_) {
          const span_of part = part_of(k_++);
          return board_step::publish(base_ + k_, part);
        }
        k_ = 0;
        j_ = 0;
        now_ = phase::combine;
        [[fallthrough]];
      case phase::combine:
        if (k_ < count_) return combine();
        k_ = 0;
        j_ = 0;
        now_ = phase::collect;
        [[fallthrough]];
      case phase::collect:
        if (auto step = collect()) return step;
        begin(first_ + count_);
        return count_ == 0 ? std::nullopt : next();
    }
    return std::nullopt;
  }

 private:
  enum class phase : std::uint8_t { publish, combine, collect };

  void begin(std::uint32_t first) noexcept {
    base_ += 2 * count_;
    first_ = first;
    count_ = std::min(batch, parts_.count() - first);
    k_ = 0;
    now_ = phase::publish;
  }
  span_of part_of(std::uint32_t k) const noexcept { return parts_.of(first_ + k); }
  span_of share(std::uint32_t k, std::size_t member) const noexcept {
    const span_of part = part_of(k);
    return {part.first + part.size() * member / n_, part.first + part.size() * (member + 1) / n_};
  }
  // The members in the order in which this one combines: me - 1 ... 0, me + 1 ... n - 1.
  std::size_t in_turn(std::size_t j) const noexcept { return j < me_ ? me_ - 1 - j : j + 1; }

  board_step combine() noexcept {
    if (j_ + 1 < n_) {
      const std::size_t from = in_turn(j_++);
      const span_of mine = share(k_, me_);
      return {.member = from,
              .number = base_ + k_ + 1,
              .post = part_of(k_),
              .range = mine,
              .into = mine.first,
              .how = in_order(from, me_),
              .takes = !collects()};
    }
    j_ = 0;
    const span_of mine = share(k_++, me_);
    return board_step::publish(base_ + count_ + k_, mine, collector_);
  }
  bool collects() const noexcept { return collector_ == nobody || collector_ == me_; }
  std::optional<board_step> collect() noexcept {
    if (n_ == 1 || k_ == count_ || !collects()) return std::nullopt;
    const std::size_t from = in_turn(j_);
    const span_of theirs = share(k_, from);
    const board_step step = board_step::read(from, base_ + count_ + k_ + 1, theirs, theirs.first);
    if (++j_ + 1 == n_) {
      j_ = 0;
      ++k_;
    }
    return step;
  }

  std::size_t n_;
  std::size_t me_;
  std::size_t collector_;
  board_parts parts_;
  phase now_ = phase::publish;
  std::uint32_t base_ = 0;   // posts of each member in earlier batches
  std::uint32_t first_ = 0;  // part of this batch
  std::uint32_t count_ = 0;  // parts of this batch
  std::uint32_t k_ = 0;
  std::size_t j_ = 0;
};

// A broadcast: the root publishes parts, and all others read them.
class board_broadcast_schedule {
 public:
  board_broadcast_schedule(std::size_t me, std::size_t root, std::size_t elements,
                           std::size_t part) noexcept
      : root_(root), is_root_(me == root), parts_(elements, part) {}

  std::optional<board_step> next() noexcept {
    if (i_ == parts_.count()) return std::nullopt;
    const span_of part = parts_.of(i_++);
    return is_root_ ? board_step::publish(i_, part) : board_step::read(root_, i_, part, part.first);
  }

 private:
  std::size_t root_;
  bool is_root_;
  board_parts parts_;
  std::uint32_t i_ = 0;
};

// A reduce (with `combines`), or a gather of blocks of `elements`: everybody publishes parts for
// the root, which combines them in the order of the members, or stores them in theirs.
class board_up_schedule {
 public:
  board_up_schedule(std::size_t members, std::size_t me, std::size_t root, std::size_t elements,
                    std::size_t part, bool combines) noexcept
      : n_(members),
        root_(root),
        is_root_(me == root),
        combines_(combines),
        each_(elements),
        parts_(elements, part) {}

  std::optional<board_step> next() noexcept {
    if (i_ == parts_.count() || (is_root_ && n_ == 1)) return std::nullopt;
    if (!is_root_) {
      const span_of part = parts_.of(i_++);
      return board_step::publish(i_, part, root_);
    }
    const std::size_t from = j_ < root_ ? root_ - 1 - j_ : j_ + 1;
    const span_of part = parts_.of(i_);
    board_step step =
        board_step::read(from, i_ + 1, part, part.first + (combines_ ? 0 : from * each_));
    if (combines_) step.how = in_order(from, root_);
    step.begins = combines_ && j_ == 0;
    if (++j_ + 1 == n_) {
      j_ = 0;
      ++i_;
    }
    return step;
  }

 private:
  std::size_t n_;
  std::size_t root_;
  bool is_root_;
  bool combines_;
  std::size_t each_;
  board_parts parts_;
  std::uint32_t i_ = 0;
  std::size_t j_ = 0;
};

// A scatter of blocks of `elements`: the root publishes a part for each other member in turn.
class board_scatter_schedule {
 public:
  board_scatter_schedule(std::size_t members, std::size_t me, std::size_t root,
                         std::size_t elements, std::size_t part) noexcept
      : n_(members), me_(me), root_(root), each_(elements), parts_(elements, part) {}

  std::optional<board_step> next() noexcept {
    if (i_ == parts_.count() || n_ == 1) return std::nullopt;
    if (me_ != root_) {
      const std::size_t turn = me_ < root_ ? me_ : me_ - 1;
      const span_of part = parts_.of(i_, me_ * each_);
      return board_step::read(root_, number(i_++, turn), part, part.first - me_ * each_);
    }
    const std::size_t to = j_ < root_ ? j_ : j_ + 1;
    const auto step = board_step::publish(number(i_, j_), parts_.of(i_, to * each_), to);
    if (++j_ + 1 == n_) {
      j_ = 0;
      ++i_;
    }
    return step;
  }

 private:
  std::uint32_t number(std::size_t i, std::size_t turn) const noexcept {
    return static_cast<std::uint32_t>(i * (n_ - 1) + turn + 1);
  }

  std::size_t n_;
  std::size_t me_;
  std::size_t root_;
  std::size_t each_;
  board_parts parts_;
  std::uint32_t i_ = 0;
  std::size_t j_ = 0;
};

// An alltoall of blocks of `elements`: each member publishes a part for the members 1, 2, ... n - 1
// further on, some ahead of those that it reads. The blocks of all members are one range.
class board_alltoall_schedule {
 public:
  // How many posts a member publishes ahead; as many as a board keeps.
  static constexpr std::size_t ahead = 8;

  board_alltoall_schedule(std::size_t members, std::size_t me, std::size_t elements,
                          std::size_t part) noexcept
      : n_(members),
        me_(me),
        each_(elements),
        parts_(elements, part),
        total_(parts_.count() * (members - 1)) {}

  std::optional<board_step> next() noexcept {
    if (published_ < std::min(read_ + ahead, total_)) {
      const std::size_t to = (me_ + distance(published_)) % n_;
      const span_of part = parts_.of(published_ / (n_ - 1), to * each_);
      ++published_;
      return board_step::publish(static_cast<std::uint32_t>(published_), part, to);
    }
    if (read_ == total_) return std::nullopt;
    const std::size_t from = (me_ + n_ - distance(read_)) % n_;
    const span_of part = parts_.of(read_ / (n_ - 1), me_ * each_);
    ++read_;
    return board_step::read(from, static_cast<std::uint32_t>(read_), part,
                            part.first - me_ * each_ + from * each_);
  }

 private:
  std::size_t distance(std::size_t post) const noexcept { return post % (n_ - 1) + 1; }

  std::size_t n_;
  std::size_t me_;
  std::size_t each_;
  board_parts parts_;
  std::size_t total_;
  std::size_t published_ = 0;
  std::size_t read_ = 0;
};

}  // namespace apgas::inline v0::remote
