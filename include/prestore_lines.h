/* The only loop over lines, for both modes of prestore.h. */
#ifndef PRESTORE_LINES_H
#define PRESTORE_LINES_H

/*
 * Acts on each line of the range, ascending; size is not 0. `last_` is the last line itself, so that the last line of the
 * address space ends the loop too. A range that would go past it is cut there; that is not asked where the size is
 * known when compiling and small, as no such range can be mapped. Where the alignment is known too, the last line is
 * counted from the first, and what is left is the lines and no loop.
 */
#define PRESTORE_EACH_LINE_(addr, size, line_size, act)                                                 \
    do {                                                                                                \
        const uintptr_t step_ = (line_size);                                                            \
        const uintptr_t start_ = (uintptr_t)(addr);                                                     \
        const uintptr_t more_ = (uintptr_t)(size) - 1;                                                  \
        const uintptr_t within_ = start_ & (step_ - 1);                                                 \
        const int fits_ =                                                                               \
            (__builtin_constant_p(size) && more_ < 4096) || more_ <= UINTPTR_MAX - start_;              \
        const uintptr_t end_ = fits_ ? start_ + more_ : UINTPTR_MAX;                                    \
        uintptr_t line_ = start_ & ~(step_ - 1);                                                        \
        const uintptr_t last_ = __builtin_constant_p(within_) && fits_                                  \
                                    ? line_ + ((within_ + more_) & ~(step_ - 1))                        \
                                    : end_ & ~(step_ - 1);                                              \
        for (;; line_ += step_) {                                                                       \
            act((const char *)line_);                                                                   \
            if (line_ == last_)                                                                         \
                break;                                                                                  \
        }                                                                                               \
    } while (0)

#endif
