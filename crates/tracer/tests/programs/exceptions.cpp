// Exceptions through frames with destructors, rethrown, from a thread, and one that nobody catches
// within the function.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

struct Guard {
    const char *name;
    ~Guard() { std::printf("left %s\n", name); }
};

__attribute__((noinline)) int deep(int n)
{
    Guard guard{ n % 2 ? "odd" : "even" };
    if (n == 0)
        throw std::runtime_error("bottom");
    return deep(n - 1) + 1;
}

__attribute__((noinline)) void again()
{
    try {
        deep(5);
    } catch (const std::exception &error) {
        std::printf("caught %s\n", error.what());
        throw;
    }
}

int main()
{
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
        try {
            if (i % 3 == 0)
                throw i;
            sum += 1;
        } catch (int value) {
            sum += value;
        }
    }
    std::printf("%ld\n", sum);
    try {
        again();
    } catch (...) {
        std::puts("at the top");
    }
    std::thread other([] {
        try {
            std::string().at(3);
        } catch (const std::out_of_range &) {
            std::puts("in a thread");
        }
    });
    other.join();
    return 3;
}
