/* Asks for masks of all signals and says what the kernel makes of them, wherever it tells: SIGKILL and SIGSTOP nobody blocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

typedef unsigned long mask_t;

static const mask_t all = ~0ul;
static mask_t in_handler, in_frame;

static mask_t
change(int how, mask_t mask)
{
    mask_t before;
    syscall(SYS_rt_sigprocmask, how, &mask, &before, sizeof(mask));
    return before;
}

static mask_t
now(void)
{
    return change(SIG_BLOCK, 0);
}

static void
looks(int signal, siginfo_t *info, void *context)
{
    in_handler = now();
    memcpy(&in_frame, &((ucontext_t *)context)->uc_sigmask, sizeof(in_frame));
}

static void
asks_for_all(int signal, siginfo_t *info, void *context)
{
    memcpy(&((ucontext_t *)context)->uc_sigmask, &all, sizeof(all));
}

static void
handle(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
    sigaction(SIGALRM, &action, NULL);
}

static void *
thread(void *unused)
{
    printf("thread %lx\n", now());
    return unused;
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    mask_t without_alarm = all & ~(1ul << (SIGALRM - 1));
    change(SIG_SETMASK, without_alarm);
    printf("set %lx\n", now());
    handle(looks);
    raise(SIGALRM);
    printf("handler %lx frame %lx then %lx\n", in_handler, in_frame, now());
    handle(asks_for_all);
    raise(SIGALRM);
    printf("by return %lx\n", now());
    change(SIG_SETMASK, 0);
    change(SIG_BLOCK, all);
    printf("block %lx\n", now());
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    pid_t child = fork();
    if (child == 0) {
        printf("child %lx\n", now());
        _exit(0);
    }
    waitpid(child, NULL, 0);
    execlp("grep", "grep", "SigBlk", "/proc/self/status", NULL);
    return 1;
}
