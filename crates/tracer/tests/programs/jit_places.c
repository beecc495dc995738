/* Where code is made: pages that become executable and writable in turn, memory mapped twice, mapped
 * anew, read from a file, on the stack; many pieces on one page, and a child that changes its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit_call.h"

const char *const jit_reg_names[REGS + 1] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                              "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15", "flags" };

static int wrong;

/* mov $VALUE, %eax; ret */
static void
constant(uint8_t *at, uint32_t value)
{
    maker_t m = { at };
    CODE(&m, "\xb8");
    imm32(&m, value);
    CODE(&m, "\xc3");
}

static void
expect(const char *what, uint64_t round, const uint8_t *code, uint32_t value)
{
    state_t s, should;
    fill(&s, round);
    should = s;
    should.reg[RAX] = value;
    s.code = code;
    jit_call(&s);
    wrong += differs(what, round, &s, &should);
}

static void
must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(2);
    }
}

static void
write_or_execute(void)
{
    uint8_t *code = pages(2, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < 100; i++) {
        must(mprotect(code, 8192, PROT_READ | PROT_WRITE) == 0, "mprotect");
        constant(code + 100, i);
        constant(code + 4096 - 3, i * 3);
        must(mprotect(code, 8192, PROT_READ | PROT_EXEC) == 0, "mprotect");
        expect("write or execute", i, code + 100, i);
        expect("write or execute, two pages", i, code + 4096 - 3, i * 3);
    }
}

static void
two_mappings(int same_page_protection)
{
    int fd = memfd_create("code", 0);
    must(fd >= 0 && ftruncate(fd, 8192) == 0, "memfd");
    uint8_t *rw = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint8_t *rx = mmap(NULL, 8192, same_page_protection ? RWX : PROT_READ | PROT_EXEC, MAP_SHARED,
                       fd, 0);
    must(rw != MAP_FAILED && rx != MAP_FAILED, "mmap");
    for (uint32_t i = 0; i < 100; i++) {
        constant(rw + 200, i);
        constant(rw + 4096 - 2, ~i);
        expect("two mappings", i, rx + 200, i);
        expect("two mappings, two pages", i, rx + 4096 - 2, ~i);
    }
    uint8_t *third = mremap(rw, 0, 8192, MREMAP_MAYMOVE);
    must(third != MAP_FAILED, "mremap");
    for (uint32_t i = 0; i < 40; i++) {
        constant(third + 300, i);
        expect("three mappings", i, rx + 300, i);
    }
    close(fd);
}

static void
mapped_anew(void)
{
    uint8_t *code = pages(1, RWX);
    for (uint32_t i = 0; i < 60; i++) {
        constant(code, i);
        expect("mapped anew", i, code, i);
        if (i % 2 == 0)
            must(munmap(code, 4096) == 0, "munmap");
        must(mmap(code, 4096, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == code, "mmap");
    }
}

static void
read_from_file(void)
{
    uint8_t *code = pages(1, RWX), fresh[6];
    int fd[2];
    must(pipe(fd) == 0, "pipe");
    for (uint32_t i = 0; i < 60; i++) {
        constant(fresh, i);
        must(write(fd[1], fresh, sizeof(fresh)) == sizeof(fresh), "write");
        must(read(fd[0], code + 32, sizeof(fresh)) == sizeof(fresh), "read");
        expect("read from a file", i, code + 32, i);
    }
    close(fd[0]);
    close(fd[1]);
}

static void
on_the_stack(void)
{
    uint8_t frame[4096 * 3];
    uint8_t *page = (uint8_t *)(((uintptr_t)frame + 4095) & ~4095ul);
    must(mprotect(page, 4096, RWX) == 0, "mprotect");
    for (uint32_t i = 0; i < 60; i++) {
        constant(page + 64, i);
        expect("on the stack", i, page + 64, i);
    }
    must(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0, "mprotect");
}

/* As a JIT does: always new code behind the old, on pages of which the beginning already ran, and
 * now and then a change to the old. */
static void
growing_heap(void)
{
    enum { PAGES = 64, EACH = 128 };
    uint8_t *code = pages(PAGES, RWX);
    for (uint32_t i = 0; i < PAGES * 4096 / EACH; i++) {
        constant(code + i * EACH, i);
        expect("growing heap", i, code + i * EACH, i);
        uint32_t old = (uint32_t)mix(i) % (i + 1);
        if (i % 5 == 0)
            constant(code + old * EACH, old + i);
        expect("growing heap, old", i, code + old * EACH,
               *(uint32_t *)(code + old * EACH + 1));
    }
}

static void
child(void)
{
    uint8_t *code = pages(1, RWX);
    constant(code, 1);
    expect("before the child", 0, code, 1);
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
        for (uint32_t i = 0; i < 40; i++) {
            constant(code, i);
            expect("child", i, code, i);
        }
        exit(wrong == 0 ? 0 : 1);
    }
    int status;
    must(waitpid(pid, &status, 0) == pid, "waitpid");
    wrong += status != 0;
    expect("after the child", 0, code, 1);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    write_or_execute();
    two_mappings(0);
    two_mappings(1);
    mapped_anew();
    read_from_file();
    on_the_stack();
    growing_heap();
    child();
    printf("%d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
