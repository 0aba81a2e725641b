/* status_json.h - prints who holds a key as JSON. */
#ifndef CLI_SHOW_STATUS_JSON_H
#define CLI_SHOW_STATUS_JSON_H

#include <stdio.h>

struct redlock;
struct redlock_query_result;

/* Print the result as one object of an array. */
void cli_status_json_print(FILE *out, const struct redlock *rl, const char *key,
                           const struct redlock_query_result *result);

#endif
