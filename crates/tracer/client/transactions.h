/* The program's hardware transactions. */
#ifndef PRESTORE_TRANSACTIONS_H
#define PRESTORE_TRANSACTIONS_H

#include "dr_api.h"

bool transactions_init(void);

#endif
