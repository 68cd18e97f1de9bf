// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <apgas/c.h>

inline void do_nothing(void*) {}

// Calls f() as a task of a program that is started for it. f may have captures.
template <class F>
void in_a_task(F f, int workers = 2, int places = 1) {
  apgas_config config = APGAS_CONFIG_INIT;
  config.workers = workers;
  config.places = places;
  config.transport = "local";
  ASSERT_EQ(apgas_start(&config), 0);
  EXPECT_EQ(apgas_run([](void* of) { (*static_cast<F*>(of))(); }, &f), 0);
  EXPECT_EQ(apgas_stop(), 0);
}

// Spawns f(), which is copied as bytes, with its captures.
template <class F>
int spawn_closure(const F& f) {
  return apgas_spawn([](void* of) { (*static_cast<const F*>(of))(); }, &f, sizeof f);
}

// Calls f() as the body of a finish, and returns the code of the finish.
template <class F>
int finish_closure(F f) {
  return apgas_finish([](void* of) { (*static_cast<F*>(of))(); }, &f);
}
