/* cli/json.h - writing JSON to stdout. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

/* Print text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void cli_json_string(const char *text);

#endif
