/* Processes that give up system calls. The argument says how; the exit code and the output are
 * those of a program that has none but its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW(call)                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ANSWER(call, action)                                     \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)

static void say(const char *text)
{
    syscall(SYS_write, 1, text, strlen(text));
}

static void say_number(const char *what, long number)
{
    char text[64];
    snprintf(text, sizeof(text), "%s %ld\n", what, number);
    say(text);
}

/* Much work of many kinds, without a system call. */
static long work(void)
{
    static volatile unsigned char bytes[1 << 16];
    unsigned long sum = 1;
    for (int round = 0; round < 40; round++)
        for (unsigned i = 0; i < sizeof(bytes); i++)
            bytes[i] = (unsigned char)(sum = sum * 6364136223846793005ul + i);
    return (long)(sum >> 40);
}

static int install(struct sock_filter *code, size_t count, unsigned flags)
{
    struct sock_fprog program = { (unsigned short)count, code };
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

#define INSTALL(code, flags) install(code, sizeof(code) / sizeof(code[0]), flags)

static void on_trap(int signal, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    say_number("trapped, signal", signal);
    say_number("call", info->si_syscall);
    say_number("code", info->si_code);
    say_number("data", info->si_errno);
    say_number("rax", uc->uc_mcontext.gregs[REG_RAX]);
    say_number("behind", (char *)uc->uc_mcontext.gregs[REG_RIP] - (char *)info->si_call_addr);
    uc->uc_mcontext.gregs[REG_RAX] = 4711;
}

static void *in_thread(void *unused)
{
    (void)unused;
    return (void *)(long)(getppid() == -1 ? errno : 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    struct sock_filter minimal[] = { NUMBER, ALLOW(write), ALLOW(exit_group),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS) };
    struct sock_filter executes[] = { NUMBER, ALLOW(write), ALLOW(exit_group), ALLOW(execve),
                                      ALLOW(execveat),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS) };
    struct sock_filter denies[] = { NUMBER, ANSWER(getppid, SECCOMP_RET_ERRNO | 42),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_filter traps[] = { NUMBER, ANSWER(getppid, SECCOMP_RET_TRAP | 7),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_filter wrong[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 1000) };
    if (strcmp(way, "strict") == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        say_number("worked", work());
        syscall(SYS_exit, 3);
    } else if (strcmp(way, "forbidden") == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        say_number("worked", work());
        getppid();
        say("not reached\n");
    }
    say_number("before", prctl(PR_GET_SECCOMP));
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(way, "minimal") == 0) {
        INSTALL(minimal, 0);
        say_number("worked", work());
        syscall(SYS_exit_group, 5);
    } else if (strcmp(way, "killed") == 0) {
        INSTALL(minimal, 0);
        say_number("worked", work());
        getppid();
        say("not reached\n");
    } else if (strcmp(way, "searches") == 0) {
        /* As execvp goes through PATH. */
        char *none[] = { NULL };
        INSTALL(executes, 0);
        syscall(SYS_execve, "/nowhere/sh", none, none);
        say_number("error", errno);
        syscall(SYS_execve, "/usr", none, none);
        say_number("error", errno);
        syscall(SYS_execveat, AT_FDCWD, "/usr", none, none, 0);
        say_number("error", errno);
        /* A file that only a shell could execute. */
        syscall(SYS_execve, argv[2], none, none);
        say_number("error", errno);
        say_number("worked", work());
        syscall(SYS_exit_group, 6);
    } else if (strcmp(way, "child") == 0) {
        int status;
        if (fork() == 0) {
            INSTALL(minimal, 0);
            say_number("worked", work());
            getppid();
        }
        wait(&status);
        say_number("status", status);
    } else if (strcmp(way, "denied") == 0) {
        pthread_t thread;
        void *error;
        say_number("installed", INSTALL(denies, SECCOMP_FILTER_FLAG_TSYNC));
        say_number("mode", prctl(PR_GET_SECCOMP));
        say_number("result", getppid());
        say_number("error", errno);
        pthread_create(&thread, NULL, in_thread, NULL);
        pthread_join(thread, &error);
        say_number("thread", (long)error);
        if (fork() == 0) {
            say_number("child", syscall(SYS_getppid));
            _exit(0);
        }
        wait(NULL);
    } else if (strcmp(way, "trapped") == 0) {
        struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
        sigaction(SIGSYS, &action, NULL);
        INSTALL(traps, 0);
        say_number("result", syscall(SYS_getppid));
    } else if (strcmp(way, "wrong") == 0) {
        say_number("installed", INSTALL(wrong, 0));
        say_number("error", errno);
        say_number("installed", INSTALL(denies, 1u << 30));
        say_number("error", errno);
    } else if (strcmp(way, "asked") == 0) {
        say_number("worked", work());
        /* Which flags there are, as libseccomp asks: EFAULT or EINVAL. */
        for (int bit = 0; bit < 8; bit++) {
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1u << bit, NULL);
            say_number("flag", errno);
        }
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_NEW_LISTENER, NULL);
        say_number("both", errno);
    } else if (strcmp(way, "listened") == 0) {
        say("before\n");
        say(INSTALL(denies, SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0 ? "refused\n" : "behind\n");
    } else if (strcmp(way, "executes") == 0) {
        INSTALL(denies, 0);
        execl("/bin/sh", "sh", "-c", "echo $PPID; grep Seccomp: /proc/self/status", NULL);
    }
    return 0;
}
