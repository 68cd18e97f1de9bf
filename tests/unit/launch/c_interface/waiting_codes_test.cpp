// SPDX-License-Identifier: Apache-2.0
// The codes of full/empty variables, mutexes and conditions, and the order in which tasks proceed.
#include <vector>

#include <apgas/apgas.hpp>

#include "c_tasks.hpp"

namespace {

TEST(c_waiting_codes, null_handles) {
  in_a_task([] {
    int full = 0;
    for (const auto f :
         {apgas_sync_destroy, apgas_sync_lock, apgas_sync_unlock, apgas_sync_wait_full_lock,
          apgas_sync_wait_empty_lock, apgas_sync_set_full_unlock, apgas_sync_set_empty_unlock}) {
      EXPECT_EQ(f(nullptr), APGAS_EINVAL);
    }
    for (const auto f :
         {apgas_mutex_destroy, apgas_mutex_lock, apgas_mutex_trylock, apgas_mutex_unlock}) {
      EXPECT_EQ(f(nullptr), APGAS_EINVAL);
    }
    for (const auto f : {apgas_cond_destroy, apgas_cond_signal, apgas_cond_broadcast}) {
      EXPECT_EQ(f(nullptr), APGAS_EINVAL);
    }
    EXPECT_EQ(apgas_sync_create(nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_mutex_create(nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_cond_create(nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_sync_is_full(nullptr, &full), APGAS_EINVAL);
    EXPECT_EQ(apgas_cond_wait(nullptr, nullptr), APGAS_EINVAL);
  });
}

// The objects of a test.
struct objects {
  apgas_sync_t sync = nullptr;
  apgas_mutex_t mutex = nullptr;
  apgas_cond_t cond = nullptr;

  objects() {
    EXPECT_EQ(apgas_sync_create(&sync), 0);
    EXPECT_EQ(apgas_mutex_create(&mutex), 0);
    EXPECT_EQ(apgas_cond_create(&cond), 0);
  }
  objects(const objects&) = delete;
  objects& operator=(const objects&) = delete;
  ~objects() {
    EXPECT_EQ(apgas_sync_destroy(sync), 0);
    EXPECT_EQ(apgas_mutex_destroy(mutex), 0);
    EXPECT_EQ(apgas_cond_destroy(cond), 0);
  }
};

TEST(c_waiting_codes, outside_a_task) {
  objects o;
  for (const auto f :
       {apgas_sync_lock, apgas_sync_unlock, apgas_sync_wait_full_lock, apgas_sync_wait_empty_lock,
        apgas_sync_set_full_unlock, apgas_sync_set_empty_unlock}) {
    EXPECT_EQ(f(o.sync), APGAS_ENOTASK);
  }
  for (const auto f : {apgas_mutex_lock, apgas_mutex_trylock, apgas_mutex_unlock}) {
    EXPECT_EQ(f(o.mutex), APGAS_ENOTASK);
  }
  EXPECT_EQ(apgas_cond_wait(o.cond, o.mutex), APGAS_ENOTASK);
  EXPECT_EQ(apgas_cond_signal(o.cond), 0);
  EXPECT_EQ(apgas_cond_broadcast(o.cond), 0);
  int full = 1;
  EXPECT_EQ(apgas_sync_is_full(o.sync, nullptr), APGAS_EINVAL);
  EXPECT_EQ(apgas_sync_is_full(o.sync, &full), 0);
  EXPECT_EQ(full, 0);
}

TEST(c_waiting_codes, inside_a_critical_section) {
  in_a_task([] {
    objects o;
    apgas::atomic([&] {
      EXPECT_EQ(apgas_sync_lock(o.sync), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_mutex_lock(o.mutex), APGAS_ECRITICAL);
      EXPECT_EQ(apgas_cond_wait(o.cond, o.mutex), APGAS_ECRITICAL);
    });
  });
}

TEST(c_waiting_codes, not_locked) {
  in_a_task([] {
    objects o;
    EXPECT_EQ(apgas_sync_unlock(o.sync), APGAS_ENOTLOCKED);
    EXPECT_EQ(apgas_sync_set_full_unlock(o.sync), APGAS_ENOTLOCKED);
    EXPECT_EQ(apgas_sync_set_empty_unlock(o.sync), APGAS_ENOTLOCKED);
    EXPECT_EQ(apgas_mutex_unlock(o.mutex), APGAS_ENOTLOCKED);
    EXPECT_EQ(apgas_cond_wait(o.cond, o.mutex), APGAS_ENOTLOCKED);
    EXPECT_EQ(apgas_cond_wait(o.cond, nullptr), APGAS_EINVAL);
    EXPECT_EQ(apgas_mutex_lock(o.mutex), 0);
    EXPECT_EQ(apgas_mutex_unlock(o.mutex), 0);
  });
}

TEST(c_waiting_codes, destroyed_while_locked) {
  in_a_task([] {
    objects o;
    EXPECT_EQ(apgas_sync_lock(o.sync), 0);
    EXPECT_EQ(apgas_sync_destroy(o.sync), APGAS_EBUSY);
    EXPECT_EQ(apgas_sync_unlock(o.sync), 0);
    EXPECT_EQ(apgas_mutex_lock(o.mutex), 0);
    EXPECT_EQ(apgas_mutex_destroy(o.mutex), APGAS_EBUSY);
    EXPECT_EQ(apgas_mutex_unlock(o.mutex), 0);
  });
}

TEST(c_waiting_codes, destroyed_while_a_task_waits) {
  in_a_task(
      [] {
        objects o;
        EXPECT_EQ(finish_closure([&] {
                    int begun = 0;
                    spawn_closure([&o, to = &begun] {
                      ++*to;
                      EXPECT_EQ(apgas_sync_wait_full_lock(o.sync), 0);
                      EXPECT_EQ(apgas_sync_set_empty_unlock(o.sync), 0);
                    });
                    spawn_closure([&o, to = &begun] {
                      EXPECT_EQ(apgas_mutex_lock(o.mutex), 0);
                      ++*to;
                      EXPECT_EQ(apgas_cond_wait(o.cond, o.mutex), 0);
                      EXPECT_EQ(apgas_mutex_unlock(o.mutex), 0);
                    });
                    while (begun < 2) apgas_yield();  // the only worker runs them until they wait
                    EXPECT_EQ(apgas_sync_destroy(o.sync), APGAS_EBUSY);
                    EXPECT_EQ(apgas_cond_destroy(o.cond), APGAS_EBUSY);
                    EXPECT_EQ(apgas_mutex_destroy(o.mutex), APGAS_EBUSY);
                    EXPECT_EQ(apgas_sync_wait_empty_lock(o.sync), 0);
                    EXPECT_EQ(apgas_sync_set_full_unlock(o.sync), 0);
                    EXPECT_EQ(apgas_cond_signal(o.cond), 0);
                  }),
                  0);
      },
      1);
}

TEST(c_waiting_codes, waiting_tasks_proceed_first_come_first_served) {
  in_a_task(
      [] {
        objects o;
        std::vector<int> came;
        std::vector<int> went;
        EXPECT_EQ(finish_closure([&] {
                    for (int i = 0; i < 10; ++i) {
                      spawn_closure([i, &o, &came, &went] {
                        came.push_back(i);
                        EXPECT_EQ(apgas_sync_wait_full_lock(o.sync), 0);
                        went.push_back(i);
                        EXPECT_EQ(apgas_sync_set_full_unlock(o.sync), 0);
                      });
                    }
                    while (came.size() < 10) apgas_yield();
                    EXPECT_EQ(apgas_sync_lock(o.sync), 0);
                    EXPECT_EQ(apgas_sync_set_full_unlock(o.sync), 0);
                  }),
                  0);
        EXPECT_EQ(went, came);
      },
      1);
}

TEST(c_waiting_codes, unlock_leaves_the_state_that_lock_found) {
  in_a_task([] {
    objects o;
    for (int full = 0; full < 2; ++full) {
      EXPECT_EQ(apgas_sync_lock(o.sync), 0);
      EXPECT_EQ(apgas_sync_unlock(o.sync), 0);
      int found = -1;
      EXPECT_EQ(apgas_sync_is_full(o.sync, &found), 0);
      EXPECT_EQ(found, full);
      EXPECT_EQ(apgas_sync_lock(o.sync), 0);
      EXPECT_EQ(apgas_sync_set_full_unlock(o.sync), 0);
    }
  });
}

}  // namespace
