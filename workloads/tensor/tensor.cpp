// Tensor operations, as TensorFlow in the paper's section 7.2.1: few huge operands and very many tiny ones go through
// one loop. Tiny results are read again at once, huge ones never; none is rewritten, as each gets fresh memory.
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/memory.h"
#include "../common/result.h"
#include "tensor_evaluator.hpp"

#include <cstdint>

namespace {

using tensor::PacketSize;
using tensor::TensorEvaluator;

constexpr std::size_t kLine = 64 / sizeof(float);
constexpr std::size_t kLag = 4 * PacketSize;

struct Options {
    std::uint64_t large_bytes = 16 << 20;
    std::uint64_t small_bytes = 240;
    std::uint64_t large_count = 2;
    std::uint64_t small_count = 200000;
    std::uint64_t warmup = 0;
    std::uint64_t seed = 1;
    int clean = 0;
};

// The region of the operations after those of the warm-up.
#define RUN_REGION 1

// Results are re-read or written once, so cleaning is what there is to try.
const char *const kOpWords[] = { "none", "clean", nullptr };

float *fresh(std::size_t floats)
{
    return static_cast<float *>(memory_fresh(floats * sizeof(float)));
}

std::size_t whole_lines(std::size_t floats)
{
    return (floats + kLine - 1) / kLine * kLine;
}

// Small tensors lie a zero line apart, which is what each recurrence starts from.
class Arena {
public:
    Arena(std::size_t count, std::size_t floats) : stride_(kLine + whole_lines(floats)), next_(fresh(count * stride_)) {}

    float *allocate()
    {
        float *tensor = next_ + kLine;
        next_ += stride_;
        return tensor;
    }

private:
    std::size_t stride_;
    float *next_;
};

// An arithmetic sequence, a packet at a time.
__attribute__((noinline)) void fill(float *to, std::size_t floats, float first)
{
    const tensor::Packet step = { 4, 4, 4, 4 };
    tensor::Packet packet = { first, first + 1, first + 2, first + 3 };
    for (std::size_t i = 0; i < floats; i += PacketSize) {
        tensor::store_packet(to + i, packet);
        packet += step;
    }
}

template <typename Op>
void evaluate(const TensorEvaluator<Op> &evaluator, std::size_t floats, bool clean)
{
    if (clean)
        evaluator.run_cleaned(floats);
    else
        evaluator.run(floats);
}

// An element-wise operation on huge operands; returns one element of the result.
template <typename Op>
float run_large(const float *input, std::size_t floats, bool clean)
{
    float *result = fresh(floats);
    evaluate(TensorEvaluator<Op>(result, input, input), floats, clean);
    return result[floats - 1];
}

// A recurrence over tiny tensors; returns one element of the last.
template <typename Op>
float run_small(Arena &arena, std::uint64_t count, const float *input, std::size_t floats, bool clean)
{
    float *result = nullptr;
    for (std::uint64_t i = 0; i < count; i++) {
        result = arena.allocate();
        evaluate(TensorEvaluator<Op>(result, result - kLag, input), floats, clean);
    }
    return result ? result[floats - 1] : 0;
}

} // namespace

#ifdef main
// Part of a larger program: C's linkage, so that its name there is plain.
extern "C" int main(int argc, char **argv);
#endif

int main(int argc, char **argv)
{
    Options options;
    const struct arg args[] = {
        ARG_COUNT_OF("large-bytes", &options.large_bytes, 64, 1ull << 32, "bytes of a large tensor, a multiple of 16"),
        ARG_COUNT_OF("small-bytes", &options.small_bytes, 64, 4096, "bytes of a small tensor, a multiple of 16"),
        ARG_COUNT_OF("large-count", &options.large_count, 1, 1000, "operations on large tensors"),
        ARG_COUNT_OF("small-count", &options.small_count, 1, 1e9, "operations on small tensors"),
        ARG_COUNT_OF("warmup", &options.warmup, 0, 1000, "operations on large tensors, each with its share on small ones, before those"),
        ARG_COUNT_OF("seed", &options.seed, 0, 1000, "first element of the operands"),
        ARG_CHOICE_OF("op", &options.clean, kOpWords, "pre-store applied to each line of results"),
    };

    args_parse(argc, argv, "Element-wise operations on large and small tensors.", args, sizeof args / sizeof *args);
    if (options.large_bytes % 16 || options.small_bytes % 16)
        args_fail("--large-bytes and --small-bytes must be multiples of 16");
    const std::size_t large = options.large_bytes / sizeof(float), small = options.small_bytes / sizeof(float);
    const std::uint64_t batch = options.small_count / options.large_count;
    const std::uint64_t rest = options.small_count % options.large_count;
    const bool clean = options.clean != 0;
    Arena arena(options.warmup * batch + options.small_count, small);
    float *input = fresh(large < small ? small : large);
    fill(input, large < small ? small : large, static_cast<float>(options.seed));

    const double start = result_now();
    double sum = 0;
    for (std::uint64_t i = 0; i < options.warmup + options.large_count; i++) {
        const bool first = i == options.warmup;
        if (first)
            PRESTORE_REGION_BEGIN(RUN_REGION);
        sum += run_large<tensor::scalar_sum_op>(input, large, clean);
        sum += run_small<tensor::scalar_sum_op>(arena, batch + (first ? rest : 0), input, small, clean);
    }
    // A second instance of the template, so that a report must tell them apart.
    sum += run_large<tensor::scalar_product_op>(input, large / 4 / PacketSize * PacketSize, clean);
    PRESTORE_REGION_END(RUN_REGION);
    const double seconds = result_now() - start;

    result_print("tensor", options.large_count + options.small_count + 1, seconds, result_bits(sum));
    return 0;
}
