/* json.c - writes JSON. A key may have any bytes, but JSON must be UTF-8.
 */
#include "cli/say/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"

/* As JSON writes it: above U+FFFF in two halves. */
static void escape(FILE *out, uint32_t number)
{
    if (number > 0xffff) {
        fprintf(out, "\\u%04x", (unsigned)(0xd800 + ((number - 0x10000) >> 10)));
        number = 0xdc00 + (number & 0x3ff);
    }
    fprintf(out, "\\u%04x", (unsigned)number);
}

void cli_json_string(FILE *out, const char *text)
{
    putc('"', out);
    while (*text) {
        size_t length = rlk_utf8_length(text);

        if (*text == '"' || *text == '\\') {
            fprintf(out, "\\%c", *text);
        } else if (length == 0) {
            fputs("\\ufffd", out);
        } else if (rlk_utf8_is_control(text, length)) {
            escape(out, rlk_utf8_number(text, length));
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

void cli_json_known(FILE *out, const char *name, const char *text)
{
    cli_json_text(out, name, text[0] ? text : NULL);
}

void cli_json_number(FILE *out, const char *name, bool known, int64_t number)
{
    if (known) {
        fprintf(out, ", \"%s\": %" PRId64, name, number);
    } else {
        fprintf(out, ", \"%s\": null", name);
    }
}

void cli_json_seconds(FILE *out, const char *name, bool known, uint64_t ms)
{
    if (known) {
        fprintf(out, ", \"%s\": %" PRIu64 ".%03u", name, ms / 1000, (unsigned)(ms % 1000));
    } else {
        fprintf(out, ", \"%s\": null", name);
    }
}

void cli_json_flag(FILE *out, const char *name, int flag)
{
    fprintf(out, ", \"%s\": %s", name, flag < 0 ? "null" : flag ? "true" : "false");
}
