#include "interrupts.h"

#include "dr_api.h"
#include "unrecordable.h"

/* The engine marks their numbers so, but those of fork and exit, which become the 64-bit ones. */
#define BY_INTERRUPT (1 << 29)

/* What changes memory, handlers of signals, threads, segments or the program itself. */
static const short followed[] = {
    11 /* execve */,           26 /* ptrace */,          45 /* brk */,
    48 /* signal */,           67 /* sigaction */,       72 /* sigsuspend */,
    73 /* sigpending */,       86 /* uselib */,          90 /* mmap */,
    91 /* munmap */,           117 /* ipc: shmat */,     119 /* sigreturn */,
    120 /* clone */,           123 /* modify_ldt */,     125 /* mprotect */,
    126 /* sigprocmask */,     163 /* mremap */,         172 /* prctl */,
    173 /* rt_sigreturn */,    174 /* rt_sigaction */,   175 /* rt_sigprocmask */,
    176 /* rt_sigpending */,   177 /* rt_sigtimedwait */, 179 /* rt_sigsuspend */,
    186 /* sigaltstack */,     190 /* vfork */,          192 /* mmap2 */,
    243 /* set_thread_area */, 257 /* remap_file_pages */, 310 /* unshare */,
    354 /* seccomp */,         358 /* execveat */,       374 /* userfaultfd */,
    380 /* pkey_mprotect */,   384 /* arch_prctl */,     386 /* rseq */,
    397 /* shmat */,           398 /* shmdt */,          421 /* rt_sigtimedwait_time64 */,
    435 /* clone3 */,
};

void
interrupts_before_syscall(int number)
{
    if (number < 0 || (number & BY_INTERRUPT) == 0)
        return;
    for (size_t i = 0; i < sizeof(followed) / sizeof(followed[0]); i++) {
        if ((number & ~BY_INTERRUPT) == followed[i])
            unrecordable("calls the kernel as 32-bit programs do (int $0x80) to change its memory, its "
                         "threads, its signals or itself, which the recorder follows in 64-bit calls alone");
    }
}
