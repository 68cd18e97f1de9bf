// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/batch.hpp>
#include <apgas/scheduler/fiber.hpp>

// The resumed fibers of a worker, in two first-in first-out queues: one of single fibers, one of
// whole blocks. A third one has blocks of other workers, which the worker is to pass on. A lock
// protects them, because other threads push to them and thieves take from them.
//
//   size_, passes_on_   written under the lock, read by any thread; the results of empty() and
//                       passes_on() may be out of date
namespace apgas::inline v0::scheduler {

class ready_queue {
 public:
  // The result of pop_any(): a fiber, a block, or neither.
  struct entry {
    fiber* one = nullptr;
    batch_block* many = nullptr;
  };

  // Appends a fiber. Context: any thread.
  void push(fiber* f) noexcept {
    f->next = nullptr;
    lock_.lock();
    *(first_ == nullptr ? &first_ : &last_->next) = f;
    last_ = f;
    size_.store(size_.load(base::relaxed) + 1, base::relaxed);
    lock_.unlock();
  }

  // Appends a list of `n` blocks that are linked by `next`. Context: any thread.
  void push(batch_block* first, batch_block* last, std::size_t n) noexcept {
    last->next = nullptr;
    lock_.lock();
    *(first_block_ == nullptr ? &first_block_ : &last_block_->next) = first;
    last_block_ = last;
    size_.store(size_.load(base::relaxed) + n, base::relaxed);
    lock_.unlock();
  }

  // Adds a list of blocks that the worker is to pass on to their own workers. Context: any thread.
  void push_to_pass_on(batch_block* list) noexcept {
    lock_.lock();
    if (others_ != nullptr) {  // of another leaf, clock or phaser
      batch_block* last = others_;
      while (last->next != nullptr) last = last->next;
      last->next = list;
    } else {
      others_ = list;
    }
    passes_on_.store(true, base::relaxed);
    lock_.unlock();
  }
  bool passes_on() const noexcept { return passes_on_.load(base::relaxed); }
  // Removes and returns all blocks to be passed on. Context: any thread.
  batch_block* take_to_pass_on() noexcept {
    lock_.lock();
    batch_block* const all = std::exchange(others_, nullptr);
    passes_on_.store(false, base::relaxed);
    lock_.unlock();
    return all;
  }

  // Removes and returns the first single fiber; null if there is none. Context: any thread.
  fiber* pop() noexcept {
    if (empty()) return nullptr;
    lock_.lock();
    fiber* f = take_one();
    lock_.unlock();
    return f;
  }

  // Removes and returns a single fiber or a block. It takes them in turn, so that neither kind
  // keeps the other waiting.
  // Context: any thread.
  entry pop_any() noexcept {
    entry e;
    if (empty()) return e;
    lock_.lock();
    blocks_first_ = !blocks_first_;
    if (blocks_first_) e.many = take_block();
    if (e.many == nullptr) e.one = take_one();
    if (e.one == nullptr && !blocks_first_) e.many = take_block();
    lock_.unlock();
    return e;
  }

  // For a seeded schedule, which may continue with any fiber: how many single fibers and how many
  // blocks there are; and removes the n-th single fiber, or the first block. Returns null if there
  // is none.
  // Context: any thread.
  std::size_t singles() noexcept {
    lock_.lock();
    std::size_t n = 0;
    for (const fiber* f = first_; f != nullptr; f = f->next) ++n;
    lock_.unlock();
    return n;
  }
  std::size_t blocks() noexcept {
    lock_.lock();
    std::size_t n = 0;
    for (const batch_block* b = first_block_; b != nullptr; b = b->next) ++n;
    for (const batch_block* b = others_; b != nullptr; b = b->next) ++n;
    lock_.unlock();
    return n;
  }
  fiber* take_single(std::size_t n) noexcept {
    lock_.lock();
    fiber* before = nullptr;
    fiber* f = first_;
    for (; f != nullptr && n != 0; --n) before = std::exchange(f, f->next);
    if (f != nullptr) {
      (before == nullptr ? first_ : before->next) = f->next;
      if (last_ == f) last_ = before;
      size_.store(size_.load(base::relaxed) - 1, base::relaxed);
    }
    lock_.unlock();
    return f;
  }
  batch_block* take_first_block() noexcept {
    lock_.lock();
    batch_block* const b = take_block();
    lock_.unlock();
    return b;
  }

  bool empty() const noexcept { return size_.load(base::relaxed) == 0 && !passes_on(); }

 private:
  fiber* take_one() noexcept {
    fiber* f = first_;
    if (f != nullptr) {
      first_ = f->next;
      size_.store(size_.load(base::relaxed) - 1, base::relaxed);
    }
    return f;
  }
  batch_block* take_block() noexcept {
    batch_block* b = first_block_;
    if (b != nullptr) {
      first_block_ = std::exchange(b->next, nullptr);
      size_.store(size_.load(base::relaxed) - 1, base::relaxed);
    } else if (others_ != nullptr) {
      b = others_;
      others_ = std::exchange(b->next, nullptr);
      passes_on_.store(others_ != nullptr, base::relaxed);
    }
    return b;
  }

  base::spin_lock lock_;
  base::atomic<bool> passes_on_{false};
  bool blocks_first_ = false;
  base::atomic<std::size_t> size_{0};  // fibers and blocks in the first two queues
  fiber* first_ = nullptr;
  fiber* last_ = nullptr;
  batch_block* first_block_ = nullptr;
  batch_block* last_block_ = nullptr;
  batch_block* others_ = nullptr;  // to be passed on
};

}  // namespace apgas::inline v0::scheduler
