/* A library whose tables of names lie in a segment of their own (by the linker's options), where the file
 * mapped as a whole has something else. */
#include <stdlib.h>

void *own(size_t bytes);

__asm__(".pushsection .filler,\"\"\n.fill 0x400000,1,0x5a\n.popsection");

void *
own(size_t bytes)
{
    return malloc(bytes);
}
