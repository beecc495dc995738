// A templated tensor loop in the spirit of Eigen's TensorEvaluator: one inlined loop for operands of every size.
#ifndef TENSOR_TENSOR_EVALUATOR_HPP
#define TENSOR_TENSOR_EVALUATOR_HPP

#include "../../include/prestore.h"

#include <cstddef>
#include <cstring>

namespace tensor {

// Four floats, handled as one: 16 bytes, a vector register on all machines of interest.
typedef float Packet __attribute__((vector_size(16)));
constexpr std::size_t PacketSize = sizeof(Packet) / sizeof(float);
// What one round of the unrolled loop writes.
constexpr std::size_t kChunkBytes = 4 * sizeof(Packet);

inline Packet load_packet(const float *from)
{
    Packet packet;
    std::memcpy(&packet, from, sizeof packet);
    return packet;
}

inline void store_packet(float *to, Packet packet)
{
    std::memcpy(to, &packet, sizeof packet);
}

struct scalar_sum_op {
    static Packet apply(Packet a, Packet b) { return a + b; }
};

struct scalar_product_op {
    static Packet apply(Packet a, Packet b) { return a * b; }
};

// dst[x] = Op(lhs[x], rhs[x]); dst begins on a cache line. The operands may overlap: with lhs = dst - 4 * PacketSize each packet depends on the one
// written four packets before, as in a recurrence a[x] = f(a[x - 4 * PacketSize]).
template <typename Op>
class TensorEvaluator {
public:
    TensorEvaluator(float *dst, const float *lhs, const float *rhs) : dst_(dst), lhs_(lhs), rhs_(rhs) {}

    // `size` is a multiple of PacketSize.
    __attribute__((noinline)) void run(std::size_t size) const
    {
        // A copy in registers: a store of floats could change the operands' addresses for all the compiler knows.
        const TensorEvaluator evaluator = *this;
        std::size_t i = 0;
        for (; i + 4 * PacketSize <= size; i += 4 * PacketSize) {
            evaluator.evalPacket(i + 0 * PacketSize);
            evaluator.evalPacket(i + 1 * PacketSize);
            evaluator.evalPacket(i + 2 * PacketSize);
            evaluator.evalPacket(i + 3 * PacketSize);
        }
        for (; i < size; i += PacketSize)
            evaluator.evalPacket(i);
    }

    // The same with a clean after each line, as the paper's listing 4. A loop of its own: a test in
    // the other would cost all who do not want it. Results begin on a cache line, as TensorFlow's
    // allocator lays tensors; a compiler that is told so needs not search for the line.
    __attribute__((noinline)) void run_cleaned(std::size_t size) const
    {
        const TensorEvaluator evaluator = *this;
        std::size_t i = 0;
        for (; i + 4 * PacketSize <= size; i += 4 * PacketSize) {
            evaluator.evalPacket(i + 0 * PacketSize);
            evaluator.evalPacket(i + 1 * PacketSize);
            evaluator.evalPacket(i + 2 * PacketSize);
            evaluator.evalPacket(i + 3 * PacketSize);
            prestore(__builtin_assume_aligned(evaluator.dst_ + i, kChunkBytes), kChunkBytes, PRESTORE_CLEAN);
        }
        for (; i < size; i += PacketSize)
            evaluator.evalPacket(i);
    }

private:
    void evalPacket(std::size_t i) const
    {
        store_packet(dst_ + i, Op::apply(load_packet(lhs_ + i), load_packet(rhs_ + i)));
    }

    float *dst_;
    const float *lhs_;
    const float *rhs_;
};

} // namespace tensor

#endif
