#include "op.h"

const char *const OP_WORDS[] = { "none", "clean", "demote", "skip", NULL };
