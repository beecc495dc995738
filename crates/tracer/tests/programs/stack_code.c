/* Code on the stacks of the first thread and of others, as of GNU C's nested functions; built with an
 * executable stack. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int
call_copy(int number)
{
    unsigned char code[] = { 0xb8, 0, 0, 0, 0, 0xc3 }; /* mov $number, %eax; ret */
    int sum = 0, (*call)(void);
    void *at = code;
    memcpy(&call, &at, sizeof(call));
    for (int i = 0; i < 100; i++) {
        int n = number + i;
        memcpy(code + 1, &n, sizeof(n));
        __asm__ volatile("" : : "r"(code) : "memory");
        sum += call();
    }
    return sum;
}

static void *
run(void *number)
{
    return (void *)(long)call_copy((int)(long)number);
}

int
main(void)
{
    printf("%d\n", call_copy(1));
    for (long i = 0; i < 5; i++) {
        pthread_t thread;
        void *sum;
        pthread_create(&thread, NULL, run, (void *)i);
        pthread_join(thread, &sum);
        printf("%ld\n", (long)sum);
    }
    return 0;
}
