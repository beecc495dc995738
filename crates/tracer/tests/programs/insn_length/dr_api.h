/* As much of the engine's header as client/insn_length.c needs. */
#include <stdbool.h>
typedef unsigned char byte;
typedef unsigned int uint;
