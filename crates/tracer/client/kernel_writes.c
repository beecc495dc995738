#define _GNU_SOURCE
#include "kernel_writes.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bytes.h"
#include "drmgr.h"
#include "images.h"
#include "kernel_table.h"
#include "options.h"
#include "thread.h"
#include "userfault.h"

#define ARGS 6
/* Compared behind an argument. */
#define COMPARED 4096
#define RSEQ_BYTES 32

typedef struct {
    uint64 args[ARGS];
    const outs_t *outs;  /* NULL: compare */
    uint64 length;       /* OUT_LENGTH: before the call */
    images_t images;
    uint64 compared[ARGS]; /* how many bytes of each argument */
    byte before[ARGS][COMPARED];
} call_t;

static int tls_index;

static bool
peek(uint64 at, void *to, size_t n)
{
    size_t got;
    return at != 0 && !userfault_may_wait(at, n) && dr_safe_read((const void *)at, n, to, &got) && got == n;
}

static void
written(void *drcontext, uint64 at, uint64 bytes)
{
    if (at != 0 && bytes > 0)
        bytes_now(drcontext, BYTES_KERNEL, at, bytes);
}

static uint64
vectors(void *drcontext, uint64 at, uint64 count, uint64 left)
{
    struct iovec v;
    for (; count > 0 && left > 0 && peek(at, &v, sizeof(v)); count--, at += sizeof(v)) {
        uint64 n = v.iov_len < left ? v.iov_len : left;
        written(drcontext, (uint64)v.iov_base, n);
        left -= n;
    }
    return left;
}

static void
message(void *drcontext, uint64 at, uint64 bytes)
{
    struct msghdr m;
    if (!peek(at, &m, sizeof(m)))
        return;
    written(drcontext, at, sizeof(m));
    written(drcontext, (uint64)m.msg_name, m.msg_namelen);
    written(drcontext, (uint64)m.msg_control, m.msg_controllen);
    vectors(drcontext, (uint64)m.msg_iov, m.msg_iovlen, bytes);
}

static void
messages(void *drcontext, uint64 at, uint64 count)
{
    for (struct mmsghdr m; count > 0 && peek(at, &m, sizeof(m)); count--, at += sizeof(m)) {
        message(drcontext, at, m.msg_len);
        written(drcontext, at, sizeof(m));
    }
}

/* How many the program says there are, in 32 bits; none of a number that the kernel refuses, which may be any. */
static uint64
counted(const call_t *c, uint arg, uint64 result)
{
    return result == (uint64)-EINVAL ? 0 : (uint32_t)c->args[arg];
}

static void
out(void *drcontext, const call_t *c, const out_t *o, uint64 result)
{
    uint64 at = c->args[o->arg], n;
    uint32_t length;
    bool failed = result >= (uint64)-4095;
    switch (o->how) {
    case OUT_BYTES: written(drcontext, at, o->by); break;
    case OUT_RESULT: written(drcontext, at, failed ? 0 : result * o->by); break;
    case OUT_ARG: written(drcontext, at, c->args[o->by]); break;
    case OUT_ELEMENTS: written(drcontext, at, (o->by >> 8) * counted(c, o->by & 0xff, result)); break;
    case OUT_LENGTH:
        if (!peek(c->args[o->by], &length, sizeof(length)))
            break;
        written(drcontext, at, length < c->length ? length : c->length);
        written(drcontext, c->args[o->by], sizeof(length));
        break;
    case OUT_VECTOR: vectors(drcontext, at, c->args[o->by], result); break;
    case OUT_MESSAGE: message(drcontext, at, result); break;
    case OUT_MESSAGES: messages(drcontext, at, result); break;
    case OUT_FDS:
        n = (counted(c, o->by, result) + 63) / 64 * 8;
        written(drcontext, at, n);
        break;
    case OUT_PAGES: written(drcontext, at, (c->args[o->by] + 4095) / 4096); break;
    default: break;
    }
}

/* Copies what may change. */
static void
compare_before(call_t *c)
{
    for (uint i = 0; i < ARGS; i++) {
        c->compared[i] = 0;
        /* A length, a flag, a descriptor. */
        if (c->args[i] < COMPARED)
            continue;
        uint64 in_page = COMPARED - c->args[i] % COMPARED;
        if (peek(c->args[i], c->before[i], COMPARED))
            c->compared[i] = COMPARED;
        else if (peek(c->args[i], c->before[i], in_page))
            c->compared[i] = in_page;
    }
}

static void
compare_behind(void *drcontext, const call_t *c, int number)
{
    byte now[COMPARED];
    bytes_range(drcontext, BYTES_COMPARED, (uint64)number, 0);
    for (uint i = 0; i < ARGS; i++) {
        uint64 n = c->compared[i], at = 0;
        if (n == 0 || !peek(c->args[i], now, n))
            continue;
        while (at < n) {
            uint64 from = at;
            while (at < n && now[at] != c->before[i][at])
                at++;
            if (at > from)
                bytes_are(drcontext, BYTES_KERNEL, c->args[i] + from, now + from, at - from);
            at++;
        }
    }
}

/* Its number goes where the program has asked for it, and a zero when it ends. */
static void
clone3_behind(void *drcontext, const call_t *c)
{
    struct clone_args args;
    if (!peek(c->args[0], &args, CLONE_ARGS_SIZE_VER0))
        return;
    if ((args.flags & CLONE_PARENT_SETTID) != 0)
        written(drcontext, args.parent_tid, 4);
    if ((args.flags & CLONE_CHILD_SETTID) != 0 && (args.flags & CLONE_VM) != 0)
        written(drcontext, args.child_tid, 4);
    if ((args.flags & CLONE_PIDFD) != 0)
        written(drcontext, args.pidfd, 4);
}

/* The word itself, of the calls that change it. */
static void
futex_behind(void *drcontext, const call_t *c)
{
    switch (c->args[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI: written(drcontext, c->args[0], 4); break;
    case FUTEX_WAKE_OP:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_CMP_REQUEUE_PI: written(drcontext, c->args[4], 4); break;
    default: break;
    }
}

static void
thread_ends(void *drcontext)
{
    static const uint32_t zero;
    uint64 at = 0;
    if (syscall(SYS_prctl, PR_GET_TID_ADDRESS, &at) == 0 && at != 0)
        bytes_are(drcontext, BYTES_KERNEL, at, &zero, sizeof(zero));
}

static bool
on_request(void *drcontext, int number)
{
    call_t *c = drmgr_get_tls_field(drcontext, tls_index);
    for (int i = 0; i < ARGS; i++)
        c->args[i] = dr_syscall_get_param(drcontext, i);
    images_before(drcontext, number, c->args, &c->images);
    if (number == SYS_exit)
        thread_ends(drcontext);
    c->outs = kernel_outs(number);
    if (c->outs == NULL) {
        if (number != SYS_clone3 && number != SYS_rseq && number != SYS_futex)
            compare_before(c);
        return true;
    }
    for (int i = 0; i < MAX_OUTS; i++) {
        uint32_t length = 0;
        if (c->outs->out[i].how == OUT_LENGTH && peek(c->args[c->outs->out[i].by], &length, 4))
            c->length = length;
    }
    return true;
}

static void
on_answer(void *drcontext, int number)
{
    call_t *c = drmgr_get_tls_field(drcontext, tls_index);
    uint64 result = (uint64)dr_syscall_get_result(drcontext);
    bool failed = result >= (uint64)-4095;
    if (number == SYS_clone3) {
        clone3_behind(drcontext, c);
    } else if (number == SYS_futex) {
        futex_behind(drcontext, c);
    } else if (number == SYS_rseq) {
        /* The kernel writes there whenever the thread changes its processor. */
        if (!failed)
            bytes_range(drcontext, BYTES_UNKNOWN, c->args[0], RSEQ_BYTES);
    } else if (c->outs == NULL) {
        compare_behind(drcontext, c, number);
    } else if (!failed || c->outs->on_error) {
        for (int i = 0; i < MAX_OUTS && c->outs->out[i].how != OUT_NONE; i++)
            out(drcontext, c, &c->outs->out[i], result);
    }
    userfault_behind(drcontext, number, c->args, result);
    images_behind(drcontext, number, c->args, result, &c->images);
    thread_stamp(drcontext);
}

/* How long a signal's frame at `at` is; 0: there is none. */
static uint64
frame_bytes(uint64 at)
{
    struct {
        uint64 return_address;
        uint64 flags, link, stack[3];
        uint64 registers[23];
        uint64 fpstate, reserved[8];
        uint64 mask;
        byte info[128];
    } frame;
    uint32_t extended;
    if (!peek(at, &frame, sizeof(frame)))
        return 0;
    if (frame.fpstate <= at || frame.fpstate - at >= 1 << 16)
        return sizeof(frame);
    /* struct _fpstate: sw_reserved.extended_size, or the legacy region alone. */
    bool has = peek(frame.fpstate + 468, &extended, sizeof(extended));
    return frame.fpstate + (has && extended >= 512 && extended < 1 << 16 ? extended : 512) - at;
}

/* The engine, in the kernel's place, puts the frame onto the handler's stack. What is there when the
 * handler has returned is nobody's. */
static void
on_transfer(void *drcontext, const dr_kernel_xfer_info_t *info)
{
    if (info->type == DR_XFER_SIGNAL_DELIVERY) {
        written(drcontext, info->target_xsp, frame_bytes(info->target_xsp));
    } else if (info->type == DR_XFER_SIGNAL_RETURN && info->source_mcontext != NULL) {
        /* The return address is off the stack by now. */
        uint64 at = info->source_mcontext->xsp - sizeof(uint64), bytes = frame_bytes(at);
        if (bytes > 0)
            bytes_range(drcontext, BYTES_GONE, at, bytes);
    }
}

static void
on_thread_init(void *drcontext)
{
    call_t *c = dr_thread_alloc(drcontext, sizeof(*c));
    memset(c, 0, sizeof(*c));
    drmgr_set_tls_field(drcontext, tls_index, c);
}

static void
on_thread_exit(void *drcontext)
{
    dr_thread_free(drcontext, drmgr_get_tls_field(drcontext, tls_index), sizeof(call_t));
}

void
kernel_writes_init(void)
{
    tls_index = drmgr_register_tls_field();
    drmgr_register_thread_init_event(on_thread_init);
    drmgr_register_thread_exit_event(on_thread_exit);
    drmgr_register_pre_syscall_event(on_request);
    drmgr_register_post_syscall_event(on_answer);
    drmgr_register_kernel_xfer_event(on_transfer);
}

void
kernel_writes_exit(void)
{
    drmgr_unregister_tls_field(tls_index);
}
