/* Closes all files it does not know, in three ways, as daemons do; then works on. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    syscall(SYS_close_range, 3u, ~0u, 0);
    for (int fd = 3; fd < 65536; fd++)
        close(fd);
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(all))
            close(fd);
    }
    closedir(all);
    volatile char *memory = malloc(1000000);
    long sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000000; i++)
            memory[i] = (char)(i + round);
        for (int i = 0; i < 1000000; i++)
            sum += memory[i];
    }
    printf("%ld\n", sum);
    return 0;
}
