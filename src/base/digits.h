/* digits.h - a number in decimal, without printf: for what is written often; and the value of a
 * digit. */
#ifndef RLK_BASE_DIGITS_H
#define RLK_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The most digits of a number. */
#define RLK_DIGITS_MAX 20

/* Not a digit. */
#define RLK_NO_DIGIT 16

/* The value of a decimal digit, or of a lower-case hexadecimal one. */
static inline unsigned rlk_digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : RLK_NO_DIGIT;
}

static inline size_t rlk_digits_count(uint64_t n)
{
    uint64_t power = 10;
    size_t count = 1;

    for (; n >= power && count < RLK_DIGITS_MAX; power *= 10) {
        count++;
    }
    return count;
}

/* Write the digits so that the last one is just before `end`; returns the first. Two at a time: a
 * division takes longer than the rest. */
static inline char *rlk_digits(uint64_t n, char *end)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    for (; n >= 100; n /= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (n % 100), 2);
    }
    if (n >= 10) {
        end -= 2;
        memcpy(end, pairs + 2 * n, 2);
    } else {
        *--end = (char)('0' + n);
    }
    return end;
}

#endif
