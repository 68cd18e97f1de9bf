// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <bit>
#include <string_view>

#include "pbbs/sequence.hpp"
#include "support/random_word.hpp"

namespace pbbs {

namespace {

// From which the probabilities of letters come. A blank begins and ends each word.
constexpr std::string_view sample =
    " a place is a part of the memory of a program together with the tasks that run on it and every"
    " task starts where another one has spawned it or at the place to which it was sent the task "
    "that waits for others lets its worker go on with something else until the last of them has "
    "ended so that no worker is ever idle while there are tasks to run when a worker has nothing "
    "left it takes the oldest task of another worker which is probably the largest piece of work "
    "that can be found there and continues with it as if it were its own ";

constexpr std::size_t letters = 27;  // the blank is 0

constexpr std::size_t letter(char c) {
  return c == ' ' ? 0 : static_cast<std::size_t>(c - 'a') + 1;
}

// The letters that follow two others in the sample, each as often as it does there.
class successors {
 public:
  successors() {
    for (std::size_t i = 0; i + 2 < sample.size(); ++i) {
      after_[letter(sample[i]) * letters + letter(sample[i + 1])].push_back(sample[i + 2]);
    }
    for (std::size_t i = 0; i + 1 < sample.size(); ++i) {
      if (sample[i] == ' ') initials_.push_back(sample[i + 1]);
    }
  }
  [[nodiscard]] char initial(word random) const { return initials_[random % initials_.size()]; }
  [[nodiscard]] char after(char a, char b, word random) const {
    const std::string& those = after_[letter(a) * letters + letter(b)];
    return those.empty() ? ' ' : those[random % those.size()];
  }

 private:
  std::string initials_;
  std::array<std::string, letters * letters> after_;
};

word trigram_word(const successors& next, std::size_t i) {
  word packed = 0;
  char before = ' ';
  char last = next.initial(apps::random_word(8 * i));
  for (std::size_t k = 1; k <= 8; ++k) {
    packed = packed << 8 | static_cast<unsigned char>(last == ' ' ? '\0' : last);
    if (last == ' ') continue;
    const char following = next.after(before, last, apps::random_word(8 * i + k));
    before = last;
    last = following;
  }
  return packed;
}

word exponential(std::size_t i, std::size_t n) {
  const auto powers = static_cast<word>(std::bit_width(n));
  const word range = word{1} << (apps::random_word(2 * i) % powers);
  return range + apps::random_word(2 * i + 1) % range;
}

}  // namespace

sequence make_sequence(const std::string& distribution, std::size_t n) {
  sequence values(n);
  if (distribution == "trigrams") {
    const successors next;
    for (std::size_t i = 0; i < n; ++i) values[i] = trigram_word(next, i);
  } else if (distribution == "exponential") {
    for (std::size_t i = 0; i < n; ++i) values[i] = exponential(i, n);
  } else {
    for (std::size_t i = 0; i < n; ++i) values[i] = apps::random_word(i) % n;
  }
  return values;
}

}  // namespace pbbs
