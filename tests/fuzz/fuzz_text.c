/* fuzz_text.c - any bytes as a text from others, as the command writes it: escaped for a terminal,
 * in JSON, and as the label of a metric. Each is read again, and must say what the text said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "base/utf8.h"
#include "cli/say/escape.h"
#include "cli/say/json.h"
#include "fuzz.h"
#include "metrics/text.h"

#define BAD 0xfffdu /* what stands for a byte that is no text */

/* ---- characters, decoded by their bits ---- */

/* The character at s and its length in bytes; BAD and 1 for a byte that does not begin one. */
static uint32_t decode(const char *s, size_t *ret_length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)s[0];
    size_t n = first < 0x80       ? 1
               : first >> 5 == 6  ? 2
               : first >> 4 == 14 ? 3
               : first >> 3 == 30 ? 4
                                  : 0,
           i;
    uint32_t c = n == 1 ? first : n == 0 ? 0 : first & ((1u << (7 - n)) - 1);

    for (i = 1; i < n; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) {
            n = 0;
            break;
        }
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    *ret_length = n ? n : 1;
    if (n == 0 || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        *ret_length = 1;
        return BAD;
    }
    return c;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
           c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* What must never be shown as it is. */
static void check_shown(const char *shown)
{
    size_t length;
    uint32_t c;

    for (; *shown; shown += length) {
        c = decode(shown, &length);
        FUZZ_CHECK(c != BAD || length == 3, "what is shown is UTF-8");
        FUZZ_CHECK(!is_control(c), "and has no character that controls a terminal");
    }
}

/* ---- JSON ---- */

static uint32_t hex4(const char **at)
{
    uint32_t c = 0;
    int i;

    FUZZ_CHECK((*at)[0] == '\\' && (*at)[1] == 'u', "an escape is a backslash and a u");
    for (i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, (*at)[i]);

        FUZZ_CHECK((*at)[i] && digit, "and four digits");
        c = c << 4 | (uint32_t)(digit - digits);
    }
    *at += 6;
    return c;
}

static uint32_t json_character(const char **at)
{
    size_t length = 1;
    uint32_t c;

    if ((*at)[0] == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\')) {
        *at += 2;
        return (uint32_t)(*at)[-1];
    }
    if ((*at)[0] == '\\') {
        c = hex4(at);
        return c >> 10 == 0xd800 >> 10 ? 0x10000 + ((c & 0x3ff) << 10 | (hex4(at) & 0x3ff)) : c;
    }
    c = decode(*at, &length);
    *at += length;
    return c;
}

static void check_json(const char *text)
{
    char *json = NULL;
    size_t size = 0, length;
    FILE *out = open_memstream(&json, &size);
    const char *at;

    if (out == NULL) {
        abort();
    }
    cli_json_string(out, text);
    fclose(out);
    FUZZ_CHECK(size >= 2 && json[0] == '"' && strlen(json) == size, "a string begins with a quote");
    check_shown(json);
    for (at = json + 1; *text; text += length) {
        FUZZ_CHECK(*at != '"', "the string goes on as long as the text");
        FUZZ_CHECK(json_character(&at) == decode(text, &length), "and has its characters");
    }
    FUZZ_CHECK(strcmp(at, "\"") == 0, "it ends with a quote");
    free(json);
}

/* ---- a terminal, and the label of a metric ---- */

/* The text as both write it: "\xHH" for each byte of what is no text, or controls. */
static char *escape_again(const char *text)
{
    char *copy = malloc(4 * strlen(text) + 1), *to = copy;
    size_t length, i;
    uint32_t c;

    if (copy == NULL) {
        abort();
    }
    for (; *text; text += length) {
        c = decode(text, &length);
        for (i = 0; i < length; i++) {
            bool whole = rlk_utf8_length(text) > 0 && !rlk_utf8_is_control(text, length);

            FUZZ_CHECK(!whole || !is_control(c), "a control character is known as one");
            to += sprintf(to, whole ? "%c" : "\\x%02x", (unsigned char)text[i]);
        }
    }
    *to = '\0';
    return copy;
}

static void check_escaped(const char *text, const char *wanted)
{
    size_t room = 4 * strlen(text) + 1, few = strlen(text) / 2 + 1;
    char *whole = malloc(room), *part = malloc(few);

    if (whole == NULL || part == NULL) {
        abort();
    }
    FUZZ_CHECK(cli_escape_text(text, whole, room) == strlen(whole) && strcmp(whole, wanted) == 0,
               "an escaped text says each byte");
    FUZZ_CHECK(cli_escape_text(text, part, few) == strlen(part) && strlen(part) < few &&
                   strncmp(whole, part, strlen(part)) == 0,
               "what does not fit is left out");
    check_shown(whole);
    check_shown(part);
    free(whole);
    free(part);
}

static void add_bytes(void *arg, const char *bytes, size_t len)
{
    evbuffer_add(arg, bytes, len);
}

static void check_label(const char *text, const char *wanted)
{
    struct evbuffer *out = evbuffer_new();
    const struct rlk_metrics to = {add_bytes, out};
    const struct rlk_label label = {"key", text}, none = {NULL, NULL};
    char *line, *at;

    rlk_metrics_number(&to, "n", label, none, 7);
    evbuffer_add(out, "", 1);
    line = (char *)evbuffer_pullup(out, -1);
    FUZZ_CHECK(strncmp(line, "n{key=\"", 7) == 0, "a sample begins with its name and its label");
    for (at = line + 7; *wanted; wanted++, at++) {
        if (*wanted == '\\' || *wanted == '"') {
            FUZZ_CHECK(*at++ == '\\', "a quote and a backslash are escaped");
        }
        FUZZ_CHECK(*at == *wanted, "a label says each byte");
    }
    FUZZ_CHECK(strcmp(at, "\"} 7\n") == 0, "and ends with its value, on one line");
    evbuffer_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *wanted = escape_again(text);

    check_json(text);
    check_escaped(text, wanted);
    check_label(text, wanted);
    free(wanted);
    free(text);
    return 0;
}
