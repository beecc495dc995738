/* The only loop over lines, for both modes of prestore.h. */
#ifndef PRESTORE_LINES_H
#define PRESTORE_LINES_H

/* Acts on each line of the range, ascending; size is not 0. `end_` is the last byte, so that the last line of the
 * address space ends the loop too. */
#define PRESTORE_EACH_LINE_(addr, size, line_size, act)                                                 \
    do {                                                                                                \
        const uintptr_t step_ = (line_size);                                                            \
        const uintptr_t start_ = (uintptr_t)(addr);                                                     \
        const uintptr_t more_ = (uintptr_t)(size) - 1;                                                  \
        const uintptr_t end_ = more_ > UINTPTR_MAX - start_ ? UINTPTR_MAX : start_ + more_;             \
        const uintptr_t last_ = end_ & ~(step_ - 1);                                                    \
        uintptr_t line_ = start_ & ~(step_ - 1);                                                        \
        for (;; line_ += step_) {                                                                       \
            act((const char *)line_);                                                                   \
            if (line_ == last_)                                                                         \
                break;                                                                                  \
        }                                                                                               \
    } while (0)

#endif
