/* Uses up its descriptors where nobody may raise the limit any more, and has a child do something. */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int gives_up_privileges(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    return syscall(SYS_capset, &header, none);
}

static int works(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += atoi("3");
    return sum % 256;
}

int main(void)
{
    struct rlimit few = {100, 100};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0 || gives_up_privileges() != 0)
        return 1;
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    pid_t child = fork();
    if (child == 0)
        _exit(works());
    int status = 0;
    waitpid(child, &status, 0);
    printf("the child: %d\n", WEXITSTATUS(status));
    return 0;
}
