/* Reads instructions, a line of hexadecimal bytes each, and prints those whose length the client
 * sees otherwise, and then "checked N". */
#include "../../client/insn_length.c"

#include <stdio.h>

int
main(void)
{
    char line[256];
    unsigned long checked = 0;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        byte code[15];
        uint length = 0, value;
        int used = 0;
        for (char *at = line; length < 15 && sscanf(at, " %2x%n", &value, &used) == 1; at += used)
            code[length++] = (byte)value;
        /* What follows must not matter. */
        for (uint i = length; i < 15; i++)
            code[i] = 0x90;
        insn_length_t seen = insn_length(code, 15);
        if (seen.length == 0)
            continue;
        checked++;
        if (seen.length != length)
            printf("%u instead of %u: %s", seen.length, length, line);
    }
    printf("checked %lu\n", checked);
    return 0;
}
