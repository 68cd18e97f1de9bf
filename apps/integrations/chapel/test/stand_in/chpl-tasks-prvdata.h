/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPL_TASKS_PRVDATA_H
#define STAND_IN_CHPL_TASKS_PRVDATA_H

// What the communication layer keeps of each task; its type depends on that layer.
typedef struct {
  long comm_data[4];
} chpl_task_prvData_t;

#endif
