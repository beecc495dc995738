/* Proves of each finished block that our code in it leaves the program's state alone. Asked for by
 * the option `check`; the tests run with it. */
#ifndef PRESTORE_CHECK_H
#define PRESTORE_CHECK_H

#include "dr_api.h"

bool check_init(void);

#endif
