/* value.c - reads durations, numbers, words and texts, each in its range. */
#include "settings/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/manager.h>

#include "settings/duration.h"
#include "settings/lookup.h"

int rlk_value_time(const char *from, const char *text, uint32_t min_ms, uint32_t max_ms,
                   const struct rlk_error_text *error, uint32_t *ret_ms)
{
    uint64_t ms;

    if (rlk_duration_parse(text, &ms) != 0) {
        return rlk_settings_refuse(
            error, "%s '%s' is not a time (write 500ms, 10s, 1.5s, 2m, 1h or 1d)", from, text);
    }
    if (ms < min_ms || ms > max_ms) {
        return rlk_settings_refuse(error, "%s '%s' is out of range: it must be from %s to %s", from,
                                   text, rlk_duration(min_ms), rlk_duration(max_ms));
    }
    *ret_ms = (uint32_t)ms;
    return 0;
}

int rlk_value_number(const char *from, const char *text, int min, int max,
                     const struct rlk_error_text *error, int *ret_number)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end || number < min || number > max) {
        return rlk_settings_refuse(error, "%s '%s' is not a number from %d to %d", from, text, min,
                                   max);
    }
    *ret_number = (int)number;
    return 0;
}

/* Store the number of a word. */
static int store_word(const struct rlk_setting_row *row, const struct rlk_value *value,
                      const struct rlk_error_text *error, int *ret_number)
{
    int i;

    for (i = 0; row->words[i]; i++) {
        if (strcmp(value->text, row->words[i]) == 0) {
            *ret_number = i;
            return 0;
        }
    }
    return rlk_settings_refuse(error, "%s '%s' is unknown: it must be %s", value->from, value->text,
                               row->expected);
}

static int store_switch(const struct rlk_value *value, const struct rlk_error_text *error,
                        int *ret_on)
{
    bool on = strcmp(value->text, "yes") == 0 || strcmp(value->text, "1") == 0;

    if (!on && strcmp(value->text, "no") != 0 && strcmp(value->text, "0") != 0) {
        return rlk_settings_refuse(error, "%s '%s' is unknown: it must be yes or 1, no or 0",
                                   value->from, value->text);
    }
    *ret_on = on;
    return 0;
}

static int store_text(const struct rlk_setting_row *row, const struct rlk_value *value,
                      const struct rlk_error_text *error, const char **ret_text)
{
    if (strlen(value->text) > row->max) {
        return rlk_settings_refuse(error, "%s is too long: at most %" PRIu32 " bytes are allowed",
                                   value->from, row->max);
    }
    *ret_text = value->text;
    return 0;
}

int rlk_value_store(const struct rlk_setting_row *row, const struct rlk_value *value,
                    const struct rlk_error_text *error, struct redlock_options *options)
{
    void *field = (char *)options + row->field;

    switch (row->kind) {
    case RLK_KIND_TEXT:
        return store_text(row, value, error, field);
    case RLK_KIND_TIME:
        return rlk_value_time(value->from, value->text, row->min, row->max, error, field);
    case RLK_KIND_NUMBER:
        return rlk_value_number(value->from, value->text, (int)row->min, (int)row->max, error,
                                field);
    case RLK_KIND_WORD:
        return store_word(row, value, error, field);
    case RLK_KIND_SWITCH:
        return store_switch(value, error, field);
    case RLK_KIND_NAME:
    case RLK_KIND_FILE:
        *(const char **)field = value->text[0] ? value->text : NULL;
        return 0;
    case RLK_KIND_OWN:
        break;
    }
    return 0;
}
