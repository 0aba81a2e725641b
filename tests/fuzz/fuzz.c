/* fuzz.c - see fuzz.h. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"

void fuzz_check(bool holds, const char *rule, const char *file, int line)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: broken: %s\n", file, line, rule);
        abort();
    }
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    return text;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',';
}

static void skip_blanks(struct fuzz_script *s)
{
    bool comment = false;

    for (; s->at < s->end && (comment || is_blank(*s->at) || *s->at == '#'); s->at++) {
        comment = *s->at == '#' || (comment && *s->at != '\n');
    }
}

int fuzz_byte(struct fuzz_script *s)
{
    return s->at < s->end ? *s->at++ : -1;
}

int fuzz_letter(struct fuzz_script *s)
{
    skip_blanks(s);
    return fuzz_byte(s);
}

/* The value of a digit; `base` when the letter is no digit. */
static unsigned digit(int c, unsigned base)
{
    unsigned value = base;

    if (c >= '0' && c <= '9') {
        value = (unsigned)(c - '0');
    } else if (c >= 'a' && c <= 'f') {
        value = (unsigned)(c - 'a') + 10;
    }
    return value < base ? value : base;
}

int fuzz_escaped(struct fuzz_script *s)
{
    int c = fuzz_byte(s);
    unsigned high;

    switch (c) {
    case 'r':
        return '\r';
    case 'n':
        return '\n';
    case 'x':
        high = digit(fuzz_byte(s), 16) % 16;
        return (int)(high * 16 + digit(fuzz_byte(s), 16) % 16);
    default:
        return c;
    }
}

static uint64_t number(struct fuzz_script *s, unsigned base)
{
    uint64_t value = 0;

    skip_blanks(s);
    if (s->at < s->end && *s->at == '*') {
        s->at++;
        return UINT64_MAX;
    }
    for (; s->at < s->end && digit(*s->at, base) < base; s->at++) {
        unsigned next = digit(*s->at, base);

        value = value > (UINT64_MAX - next) / base ? UINT64_MAX : value * base + next;
    }
    return value;
}

uint64_t fuzz_number(struct fuzz_script *s)
{
    return number(s, 10);
}

uint64_t fuzz_mask(struct fuzz_script *s)
{
    return number(s, 16);
}

struct rlk_voters fuzz_voters(struct fuzz_script *s)
{
    uint64_t set = fuzz_mask(s) & rlk_mask_all(RLK_MAX_NODES);
    uint64_t size = rlk_time_min(fuzz_number(s), RLK_MAX_NODES);

    size = rlk_time_max(size, rlk_time_max(1, rlk_mask_count(set)));
    return (struct rlk_voters){set, (unsigned)size};
}

unsigned fuzz_count(struct fuzz_script *s)
{
    return (unsigned)((fuzz_number(s) % 63 + 62) % 63) + 1;
}

unsigned fuzz_node(struct fuzz_script *s)
{
    return (unsigned)(fuzz_number(s) & 63);
}

uint64_t fuzz_later(uint64_t now_us, uint64_t by_us)
{
    return rlk_time_min(rlk_time_add(now_us, by_us), RLK_NEVER - 1);
}

void fuzz_move_to(uint64_t *now_us, uint64_t to_us)
{
    if (to_us != RLK_NEVER && to_us > *now_us) {
        *now_us = to_us;
    }
}

static void read_field(struct fuzz_script *s, char field, struct rlk_event *ev)
{
    switch (field) {
    case 'n':
        ev->node = fuzz_node(s);
        break;
    case 'r':
        ev->ready = fuzz_mask(s);
        break;
    case 'c':
        ev->connecting = fuzz_mask(s);
        break;
    case 'f':
        ev->fence = fuzz_number(s);
        break;
    case 'h':
        ev->holder = fuzz_number(s);
        break;
    case 'o':
        ev->round = (uint32_t)fuzz_number(s);
        break;
    case 'b':
        ev->by_us = fuzz_number(s);
        break;
    case 'p':
        ev->position = (uint32_t)fuzz_number(s);
        break;
    case 'l':
        ev->left_us = fuzz_number(s);
        break;
    default:
        abort(); /* the table is wrong */
    }
}

bool fuzz_event(struct fuzz_script *s, const struct fuzz_event *table, int letter,
                struct rlk_event *ret_ev)
{
    const char *field;

    for (; table->letter && table->letter != letter; table++) {
    }
    if (table->letter == 0) {
        return false;
    }
    *ret_ev = table->ev;
    for (field = table->reads; *field; field++) {
        read_field(s, *field, ret_ev);
    }
    return true;
}

bool fuzz_time(struct fuzz_script *s, int letter, uint64_t *now_us, uint64_t deadline_us)
{
    switch (letter) {
    case '+':
        *now_us = fuzz_later(*now_us, fuzz_number(s));
        return true;
    case '@':
        fuzz_move_to(now_us, deadline_us);
        return true;
    case '<':
        fuzz_move_to(now_us, rlk_time_sub(deadline_us, 1));
        return true;
    default:
        return false;
    }
}

unsigned fuzz_open_descriptors(void)
{
    unsigned n = 0;
    int fd;

    for (fd = 0; fd < 64; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}
