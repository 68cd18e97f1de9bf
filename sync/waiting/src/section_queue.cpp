// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/section_queue.hpp>

#include <utility>

#include <apgas/base/assert.hpp>

namespace apgas::inline v0::sync {

void section_queue::append(queue_entry& e) noexcept {
  e.previous = std::exchange(last_, &e);
  e.next = nullptr;
  (e.previous != nullptr ? e.previous->next : first_) = &e;
}

void section_queue::remove(queue_entry& e) noexcept {
  (e.previous != nullptr ? e.previous->next : first_) = e.next;
  (e.next != nullptr ? e.next->previous : last_) = e.previous;
}

// Sets untested_, and adds the queue to the list or removes it (I1).
void waiting_sections::test_from(section_queue& q, queue_entry* e) noexcept {
  const bool listed = std::exchange(q.untested_, e) != nullptr;
  if (listed == (e != nullptr)) return;
  if (!listed) {
    q.next_to_test_ = std::exchange(to_test_, &q);
    return;
  }
  section_queue** at = &to_test_;
  while (*at != &q) {
    APGAS_ASSERT(*at != nullptr, "a queue with conditions to test is not in the list");  // I1
    at = &(*at)->next_to_test_;
  }
  *at = q.next_to_test_;
}

void waiting_sections::add(waiting_section& s) noexcept {
  s.turn = turns_++;
  for (queue_entry& e : s.entries) {
    e.section = &s;
    if (e.in == nullptr) e.in = &for_all_;
    e.in->append(e);
    if (e.in->untested_ == nullptr) test_from(*e.in, &e);
  }
}

waiting_section* waiting_sections::next_to_test() noexcept {
  if (to_test_ == nullptr) return nullptr;
  if (to_test_->next_to_test_ == nullptr) [[likely]] {
    queue_entry& e = *to_test_->untested_;
    if (e.section->entries.size() == 1) [[likely]] {
      to_test_->untested_ = e.next;
      if (e.next == nullptr) to_test_ = nullptr;  // I1
      return e.section;
    }
  }
  waiting_section* oldest = to_test_->untested_->section;
  for (const section_queue* q = to_test_->next_to_test_; q != nullptr; q = q->next_to_test_) {
    if (q->untested_->section->turn < oldest->turn) oldest = q->untested_->section;
  }
  for (queue_entry& e : oldest->entries) {
    if (e.in->untested_ == &e) test_from(*e.in, e.next);
  }
  return oldest;
}

void waiting_sections::remove(waiting_section& s) noexcept {
  for (queue_entry& e : s.entries) e.in->remove(e);
}

}  // namespace apgas::inline v0::sync
