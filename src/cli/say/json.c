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

void cli_json_string(FILE *out, const char *text)
{
    putc('"', out);
    while (*text) {
        size_t length = cli_escape_character(text);

        if (*text == '"' || *text == '\\') {
            fprintf(out, "\\%c", *text);
        } else if (length == 0) {
            fputs("\\ufffd", out);
        } else if (cli_escape_is_control(text, length)) {
            fprintf(out, "\\u%04x", number(text, length));
        } else {
            fwrite(text, 1, length, out);
        }
        text += length ? length : 1;
    }
    putc('"', out);
}

void cli_json_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, ", \"%s\": ", name);
    if (text) {
        cli_json_string(out, text);
    } else {
        fprintf(out, "null");
    }
}

void cli_json_number(FILE *out, const char *name, bool known, int64_t number)
{
    if (known) {
        fprintf(out, ", \"%s\": %" PRId64, name, number);
    } else {
        fprintf(out, ", \"%s\": null", name);
    }
}

void cli_json_flag(FILE *out, const char *name, int flag)
{
    fprintf(out, ", \"%s\": %s", name, flag < 0 ? "null" : flag ? "true" : "false");
}
