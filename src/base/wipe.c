/* wipe.c - zeros in the registers, and then on the stack. */
#include "base/wipe.h"

#include <stddef.h>
#include <string.h>

/* More than the functions that handle secrets use, and a dynamic linker that saves all registers.
 */
#define STACK_WIPED 49152

/* memcpy() leaves what it copied in the registers that it uses for that size, and the dynamic
 * linker saves these on the stack when it binds the next function. So copy zeros, of each size. */
__attribute__((noinline)) static void wash_registers(void)
{
    static const char zeros[512];
    char to[sizeof(zeros)];
    volatile size_t size; /* so that memcpy() is called */

    for (size = 1; size <= sizeof(to); size *= 2) {
        memcpy(to, zeros, size);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
}

__attribute__((noinline)) static void wipe_below(void)
{
    char below[STACK_WIPED];

    explicit_bzero(below, sizeof(below));
}

void rlk_wipe_stack(void)
{
    wash_registers();
    wipe_below();
}
