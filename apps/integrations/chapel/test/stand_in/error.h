/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_ERROR_H
#define STAND_IN_ERROR_H

// Prints the message and ends the program with an error.
void chpl_internal_error(const char* message);

#endif
