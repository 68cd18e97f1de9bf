// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <new>

#include <apgas/base/atomic.hpp>
#include <apgas/condition_variable.hpp>
#include <apgas/mutex.hpp>
#include <apgas/sync/full_empty.hpp>

#include "errors.hpp"

using apgas::sync::full_empty;

// The objects behind the handles. The counts and flags are only for APGAS_EBUSY and
// APGAS_ENOTLOCKED; they order nothing.

struct apgas_sync {
  full_empty turn{full_empty::state::empty};
  full_empty::state found{};  // by the task that has locked it
  apgas::base::atomic<bool> locked{false};
};

struct apgas_mutex {
  apgas::mutex lock;
  apgas::base::atomic<int> waiting{0};  // tasks inside a lock() that had to wait
};

struct apgas_cond {
  apgas::condition_variable changed;
  apgas::base::atomic<int> waiting{0};  // tasks inside a wait
};

namespace apgas::inline v0::launch {
namespace {

template <class T>
int create(T** handle) noexcept {
  if (handle == nullptr) return APGAS_EINVAL;
  T* const made = new (std::nothrow) T;
  if (made == nullptr) return APGAS_ENOMEM;
  *handle = made;
  return 0;
}

// Returns 0 if a task may use the object, otherwise a code.
int refuse_use(const void* handle) noexcept {
  return handle == nullptr ? APGAS_EINVAL : refuse_outside_task();
}

int acquire(apgas_sync* sync, full_empty::want state) noexcept {
  if (const int refused = refuse_use(sync)) return refused;
  sync->found = sync->turn.acquire("apgas_sync_wait", state);
  sync->locked.store(true, base::relaxed);
  return 0;
}

int release(apgas_sync* sync, full_empty::state left) noexcept {
  sync->locked.store(false, base::relaxed);
  sync->turn.release(left);
  return 0;
}

int refuse_release(const apgas_sync* sync) noexcept {
  if (const int refused = refuse_use(sync)) return refused;
  return sync->locked.load(base::relaxed) ? 0 : APGAS_ENOTLOCKED;
}

// Locks the mutex. Context: task that may suspend.
void lock(apgas_mutex& mutex) {
  if (mutex.lock.try_lock()) return;
  mutex.waiting.fetch_add(1, base::relaxed);
  mutex.lock.lock();
  mutex.waiting.fetch_sub(1, base::relaxed);
}

}  // namespace
}  // namespace apgas::inline v0::launch

namespace launch = apgas::launch;
using apgas::base::relaxed;

int apgas_sync_create(apgas_sync_t* sync) noexcept { return launch::create(sync); }

int apgas_sync_destroy(apgas_sync_t sync) noexcept {
  if (sync == nullptr) return APGAS_EINVAL;
  if (sync->turn.is_used()) return APGAS_EBUSY;
  delete sync;
  return 0;
}

int apgas_sync_lock(apgas_sync_t sync) noexcept {
  return launch::acquire(sync, full_empty::want::either);
}

int apgas_sync_wait_full_lock(apgas_sync_t sync) noexcept {
  return launch::acquire(sync, full_empty::want::full);
}

int apgas_sync_wait_empty_lock(apgas_sync_t sync) noexcept {
  return launch::acquire(sync, full_empty::want::empty);
}

int apgas_sync_unlock(apgas_sync_t sync) noexcept {
  if (const int refused = launch::refuse_release(sync)) return refused;
  return launch::release(sync, sync->found);
}

int apgas_sync_set_full_unlock(apgas_sync_t sync) noexcept {
  if (const int refused = launch::refuse_release(sync)) return refused;
  return launch::release(sync, full_empty::state::full);
}

int apgas_sync_set_empty_unlock(apgas_sync_t sync) noexcept {
  if (const int refused = launch::refuse_release(sync)) return refused;
  return launch::release(sync, full_empty::state::empty);
}

int apgas_sync_is_full(apgas_sync_t sync, int* full) noexcept {
  if (sync == nullptr || full == nullptr) return APGAS_EINVAL;
  *full = sync->turn.is_full() ? 1 : 0;
  return 0;
}

int apgas_mutex_create(apgas_mutex_t* mutex) noexcept { return launch::create(mutex); }

int apgas_mutex_destroy(apgas_mutex_t mutex) noexcept {
  if (mutex == nullptr) return APGAS_EINVAL;
  if (mutex->waiting.load(relaxed) != 0 || !mutex->lock.try_lock()) return APGAS_EBUSY;
  delete mutex;
  return 0;
}

int apgas_mutex_lock(apgas_mutex_t mutex) noexcept {
  if (const int refused = launch::refuse_use(mutex)) return refused;
  return launch::call_guarded([mutex] { launch::lock(*mutex); });
}

int apgas_mutex_trylock(apgas_mutex_t mutex) noexcept {
  if (const int refused = launch::refuse_use(mutex)) return refused;
  return mutex->lock.try_lock() ? 0 : APGAS_EBUSY;
}

int apgas_mutex_unlock(apgas_mutex_t mutex) noexcept {
  if (const int refused = launch::refuse_use(mutex)) return refused;
  try {
    mutex->lock.unlock();
    return 0;
  } catch (const apgas::illegal_operation&) {
    return APGAS_ENOTLOCKED;
  }
}

int apgas_cond_create(apgas_cond_t* cond) noexcept { return launch::create(cond); }

int apgas_cond_destroy(apgas_cond_t cond) noexcept {
  if (cond == nullptr) return APGAS_EINVAL;
  if (cond->waiting.load(relaxed) != 0) return APGAS_EBUSY;
  delete cond;
  return 0;
}

int apgas_cond_wait(apgas_cond_t cond, apgas_mutex_t mutex) noexcept {
  if (mutex == nullptr) return APGAS_EINVAL;
  if (const int refused = launch::refuse_use(cond)) return refused;
  if (mutex->lock.try_lock()) {
    mutex->lock.unlock();
    return APGAS_ENOTLOCKED;
  }
  return launch::call_guarded([cond, mutex] {
    cond->waiting.fetch_add(1, relaxed);
    mutex->waiting.fetch_add(1, relaxed);
    std::unique_lock hold(mutex->lock, std::adopt_lock);
    cond->changed.wait(hold);
    hold.release();
    mutex->waiting.fetch_sub(1, relaxed);
    cond->waiting.fetch_sub(1, relaxed);
  });
}

int apgas_cond_signal(apgas_cond_t cond) noexcept {
  if (cond == nullptr) return APGAS_EINVAL;
  cond->changed.notify_one();
  return 0;
}

int apgas_cond_broadcast(apgas_cond_t cond) noexcept {
  if (cond == nullptr) return APGAS_EINVAL;
  cond->changed.notify_all();
  return 0;
}
