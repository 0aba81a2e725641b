/* json.c - writes JSON. A key may have any bytes, but JSON must be UTF-8.
 */
#include "cli/say/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/say/escape.h"

/* The number of a control character. */
static unsigned number(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;

    switch (length) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1fU) << 6 | (s[1] & 0x3fU);
    default:
        return (s[0] & 0xfU) << 12 | (s[1] & 0x3fU) << 6 | (s[2] & 0x3fU);
    }
}

void cli_json_string(const char *text)
{
    putchar('"');
    while (*text) {
        size_t length = cli_escape_character(text);

        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if (length == 0) {
            fputs("\\ufffd", stdout);
        } else if (cli_escape_is_control(text, length)) {
            printf("\\u%04x", number(text, length));
        } else {
            fwrite(text, 1, length, stdout);
        }
        text += length ? length : 1;
    }
    putchar('"');
}

void cli_json_text(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    if (text) {
        cli_json_string(text);
    } else {
        printf("null");
    }
}

void cli_json_number(const char *name, bool known, int64_t number)
{
    if (known) {
        printf(", \"%s\": %" PRId64, name, number);
    } else {
        printf(", \"%s\": null", name);
    }
}

void cli_json_flag(const char *name, int flag)
{
    printf(", \"%s\": %s", name, flag < 0 ? "null" : flag ? "true" : "false");
}
