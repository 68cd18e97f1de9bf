/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPL_TASKS_CALLBACKS_INTERNAL_H
#define STAND_IN_CHPL_TASKS_CALLBACKS_INTERNAL_H

#include "chpltypes.h"

// Calls what tools have installed for an event. The driver counts the calls.
typedef enum {
  chpl_task_cb_event_kind_create,
  chpl_task_cb_event_kind_begin,
  chpl_task_cb_event_kind_end,
  chpl_task_cb_num_event_kinds
} chpl_task_cb_event_kind_t;

void chpl_task_do_callbacks(chpl_task_cb_event_kind_t event, chpl_fn_int_t fid, int32_t filename,
                            int lineno, uint64_t id, int is_executeOn);

#endif
