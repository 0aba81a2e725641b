/* digits.h - a number in decimal, without printf: for what is written often. */
#ifndef RLK_BASE_DIGITS_H
#define RLK_BASE_DIGITS_H

#include <stdint.h>

/* The most digits of a number. */
#define RLK_DIGITS_MAX 20

/* Write the digits so that the last one is just before `end`; returns the first. */
static inline char *rlk_digits(uint64_t n, char *end)
{
    do {
        *--end = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return end;
}

#endif
