#include "kernel_table.h"

#include <stdlib.h>
#include <sys/syscall.h>

/* From the manual's prototypes and the kernel's structures for x86-64 (include/uapi). */
#define B(arg, n) { OUT_BYTES, arg, n }
#define R(arg, n) { OUT_RESULT, arg, n }
#define A(arg, by) { OUT_ARG, arg, by }
#define E(arg, n, count) { OUT_ELEMENTS, arg, (n) << 8 | (count) }
#define L(arg, by) { OUT_LENGTH, arg, by }
#define V(arg, by) { OUT_VECTOR, arg, by }
#define FDS(arg) { OUT_FDS, arg, 0 }
#define OK(name, ...) { SYS_##name, false, { __VA_ARGS__ } }
#define ANY(name, ...) { SYS_##name, true, { __VA_ARGS__ } }

static const outs_t writing[] = {
    OK(read, R(1, 1)), OK(pread64, R(1, 1)), OK(readv, V(1, 2)), OK(preadv, V(1, 2)),
    OK(preadv2, V(1, 2)), OK(process_vm_readv, V(1, 2)),
    OK(recvfrom, R(1, 1), L(4, 5)), OK(recvmsg, { OUT_MESSAGE, 1, 0 }),
    OK(recvmmsg, { OUT_MESSAGES, 1, 0 }, B(4, 16)), OK(sendmmsg, R(1, 64)),
    OK(accept, L(1, 2)), OK(accept4, L(1, 2)), OK(getsockname, L(1, 2)), OK(getpeername, L(1, 2)),
    OK(getsockopt, L(3, 4)), OK(socketpair, B(3, 8)), OK(pipe, B(0, 8)), OK(pipe2, B(0, 8)),
    OK(stat, B(1, 144)), OK(fstat, B(1, 144)), OK(lstat, B(1, 144)), OK(newfstatat, B(2, 144)),
    OK(statx, B(4, 256)), OK(statfs, B(1, 120)), OK(fstatfs, B(1, 120)), OK(ustat, B(1, 32)),
    OK(getdents, R(1, 1)), OK(getdents64, R(1, 1)), OK(getcwd, R(0, 1)), OK(readlink, R(1, 1)),
    OK(readlinkat, R(2, 1)), OK(getxattr, R(2, 1)), OK(lgetxattr, R(2, 1)), OK(fgetxattr, R(2, 1)),
    OK(listxattr, R(1, 1)), OK(llistxattr, R(1, 1)), OK(flistxattr, R(1, 1)),
    OK(sendfile, B(2, 8)), OK(copy_file_range, B(1, 8), B(3, 8)), OK(splice, B(1, 8), B(3, 8)),
    ANY(poll, E(0, 8, 1)), ANY(ppoll, E(0, 8, 1), B(2, 16)),
    ANY(select, FDS(1), FDS(2), FDS(3), B(4, 16)), ANY(pselect6, FDS(1), FDS(2), FDS(3), B(4, 16)),
    OK(epoll_wait, R(1, 12)), OK(epoll_pwait, R(1, 12)), OK(epoll_pwait2, R(1, 12)),
    OK(rt_sigaction, B(2, 32)), OK(rt_sigprocmask, A(2, 3)), OK(rt_sigpending, A(0, 1)),
    OK(sigaltstack, B(1, 24)), OK(rt_sigtimedwait, B(1, 128)),
    OK(getitimer, B(1, 32)), OK(setitimer, B(2, 32)), OK(timer_create, B(2, 4)),
    OK(timer_gettime, B(1, 32)), OK(timer_settime, B(3, 32)), OK(timerfd_settime, B(3, 32)),
    OK(timerfd_gettime, B(1, 32)),
    ANY(nanosleep, B(1, 16)), ANY(clock_nanosleep, B(3, 16)), OK(clock_gettime, B(1, 16)),
    OK(clock_getres, B(1, 16)), OK(gettimeofday, B(0, 16), B(1, 8)), OK(time, B(0, 8)),
    OK(times, B(0, 32)), OK(adjtimex, B(0, 208)), OK(clock_adjtime, B(1, 208)),
    OK(uname, B(0, 390)), OK(sysinfo, B(0, 112)), OK(getrusage, B(1, 144)), OK(getrlimit, B(1, 16)),
    OK(prlimit64, B(3, 16)), OK(wait4, B(1, 4), B(3, 144)), OK(waitid, B(2, 128), B(4, 144)),
    OK(getrandom, R(0, 1)), OK(sched_getaffinity, R(2, 1)), OK(sched_getparam, B(1, 4)),
    OK(sched_rr_get_interval, B(1, 16)), OK(sched_getattr, A(1, 2)),
    OK(getresuid, B(0, 4), B(1, 4), B(2, 4)), OK(getresgid, B(0, 4), B(1, 4), B(2, 4)),
    OK(getgroups, R(1, 4)), ANY(capget, B(0, 8), B(1, 24)), OK(getcpu, B(0, 4), B(1, 4)),
    OK(arch_prctl, B(1, 8)), OK(get_robust_list, B(1, 8), B(2, 8)), OK(mincore, { OUT_PAGES, 2, 1 }), OK(syslog, R(1, 1)),
    OK(io_setup, B(1, 8)), OK(io_getevents, R(3, 32)), OK(io_uring_setup, B(1, 120)),
    OK(mq_timedreceive, R(1, 1), B(3, 4)), OK(mq_getsetattr, B(2, 64)),
    OK(name_to_handle_at, B(2, 136), B(3, 4)), OK(move_pages, E(4, 4, 1)),
    /* Of the thread that it makes, in the caller's memory; fork and vfork write none. */
    OK(clone, B(2, 4), B(3, 4)),
    /* What writes nothing to the caller, or is followed elsewhere (images.h). */
    OK(write), OK(open), OK(close), OK(lseek), OK(mmap), OK(mprotect), OK(munmap), OK(brk),
    OK(rt_sigreturn), OK(pwrite64), OK(writev), OK(access), OK(sched_yield), OK(mremap), OK(msync),
    OK(madvise), OK(shmget), OK(shmat), OK(dup), OK(dup2), OK(pause), OK(alarm), OK(getpid),
    OK(socket), OK(connect), OK(sendto), OK(sendmsg), OK(shutdown), OK(bind), OK(listen),
    OK(setsockopt), OK(fork), OK(vfork), OK(execve), OK(exit), OK(kill), OK(semget), OK(semop),
    OK(shmdt), OK(msgget), OK(msgsnd), OK(flock), OK(fsync), OK(fdatasync), OK(truncate),
    OK(ftruncate), OK(chdir), OK(fchdir), OK(rename), OK(mkdir), OK(rmdir), OK(creat), OK(link),
    OK(unlink), OK(symlink), OK(chmod), OK(fchmod), OK(chown), OK(fchown), OK(lchown), OK(umask),
    OK(getuid), OK(getgid), OK(setuid), OK(setgid), OK(geteuid), OK(getegid), OK(setpgid),
    OK(getppid), OK(getpgrp), OK(setsid), OK(setreuid), OK(setregid), OK(setgroups), OK(setresuid),
    OK(setresgid), OK(getpgid), OK(setfsuid), OK(setfsgid), OK(getsid), OK(capset),
    OK(rt_sigqueueinfo), OK(rt_sigsuspend), OK(utime), OK(mknod), OK(personality), OK(getpriority),
    OK(setpriority), OK(sched_setparam), OK(sched_setscheduler), OK(sched_getscheduler),
    OK(sched_get_priority_max), OK(sched_get_priority_min), OK(mlock), OK(munlock), OK(mlockall),
    OK(munlockall), OK(setrlimit), OK(chroot), OK(sync), OK(acct), OK(settimeofday), OK(mount),
    OK(umount2), OK(sethostname), OK(setdomainname), OK(gettid), OK(readahead), OK(setxattr),
    OK(lsetxattr), OK(fsetxattr), OK(removexattr), OK(lremovexattr), OK(fremovexattr), OK(tkill),
    OK(sched_setaffinity), OK(epoll_create), OK(set_tid_address), OK(restart_syscall),
    OK(semtimedop), OK(fadvise64), OK(timer_getoverrun), OK(timer_delete), OK(clock_settime),
    OK(exit_group), OK(epoll_ctl), OK(tgkill), OK(utimes), OK(mbind), OK(set_mempolicy),
    OK(mq_open), OK(mq_unlink), OK(mq_timedsend), OK(mq_notify), OK(inotify_init),
    OK(inotify_add_watch), OK(inotify_rm_watch), OK(openat), OK(mkdirat), OK(mknodat), OK(fchownat),
    OK(futimesat), OK(unlinkat), OK(renameat), OK(linkat), OK(symlinkat), OK(fchmodat),
    OK(faccessat), OK(unshare), OK(set_robust_list), OK(tee), OK(sync_file_range), OK(vmsplice),
    OK(utimensat), OK(signalfd), OK(signalfd4), OK(timerfd_create), OK(eventfd), OK(eventfd2),
    OK(fallocate), OK(epoll_create1), OK(dup3), OK(inotify_init1), OK(pwritev), OK(pwritev2),
    OK(rt_tgsigqueueinfo), OK(perf_event_open), OK(fanotify_init), OK(fanotify_mark),
    OK(open_by_handle_at), OK(syncfs), OK(setns), OK(process_vm_writev), OK(kcmp),
    OK(finit_module), OK(sched_setattr), OK(renameat2), OK(memfd_create), OK(execveat),
    OK(userfaultfd), OK(membarrier), OK(mlock2), OK(pkey_mprotect), OK(pkey_alloc), OK(pkey_free),
    OK(pidfd_send_signal), OK(pidfd_open), OK(close_range), OK(openat2), OK(pidfd_getfd),
    OK(faccessat2), OK(io_destroy), OK(ioprio_set), OK(ioprio_get), OK(iopl), OK(ioperm),
};

#define NUMBERS 512
static const outs_t *by_number[NUMBERS];

const outs_t *
kernel_outs(int number)
{
    if (by_number[SYS_read] == NULL) {
        /* From the back, so that the entry that tells it is filled is the last. */
        for (size_t i = sizeof(writing) / sizeof(writing[0]); i-- > 0;)
            by_number[writing[i].number] = &writing[i];
    }
    return number >= 0 && number < NUMBERS ? by_number[number] : NULL;
}
