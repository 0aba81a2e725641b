/* json.h - writes JSON. A value that is not known is null. */
#ifndef CLI_SAY_JSON_H
#define CLI_SAY_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Write text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void cli_json_string(FILE *out, const char *text);

/* A field that is not the first one: ", " and its name before the value. */
void cli_json_text(FILE *out, const char *name, const char *text);  /* NULL: not known */
void cli_json_known(FILE *out, const char *name, const char *text); /* "": not known */
void cli_json_number(FILE *out, const char *name, bool known, int64_t number);
void cli_json_seconds(FILE *out, const char *name, bool known, uint64_t ms);
void cli_json_flag(FILE *out, const char *name, int flag); /* below 0: not known */

#endif
