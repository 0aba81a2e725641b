/* utf8.c - recognises UTF-8, and what must not reach a terminal. */
#include "base/utf8.h"

/* The length of a UTF-8 character by its first byte; 0 for a byte that does not begin one. */
static size_t announced(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        return 3;
    }
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Whether the second byte makes a character overlong, a surrogate or too large. */
static bool is_out_of_range(unsigned char first, unsigned char second)
{
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
           (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

size_t rlk_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = announced(s[0]), i;

    for (i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length > 1 && is_out_of_range(s[0], s[1]) ? 0 : length;
}

uint32_t rlk_utf8_number(const char *text, size_t length)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *s = (const unsigned char *)text;
    uint32_t number = s[0] & first_bits[length];
    size_t i;

    for (i = 1; i < length; i++) {
        number = number << 6 | (s[i] & 0x3fU);
    }
    return number;
}

bool rlk_utf8_is_control(const char *text, size_t length)
{
    /* Control characters, those that change the direction of text, and invisible ones: with these,
     * two different names could look the same. */
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},      {0x34f, 0x34f},
                  {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180b, 0x180f},
                  {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},  {0x3164, 0x3164},
                  {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xfffb},
                  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    uint32_t number = rlk_utf8_number(text, length);
    size_t i;

    for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (number >= ranges[i].first && number <= ranges[i].last) {
            return true;
        }
    }
    return false;
}
