/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPL_LINEFILE_SUPPORT_H
#define STAND_IN_CHPL_LINEFILE_SUPPORT_H

#define CHPL_FILE_IDX_UNKNOWN 0

#endif
