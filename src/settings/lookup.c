/* lookup.c - asks the options, the environment and the file, in this order. */
#include "settings/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char *option_of(const struct rlk_sources *sources, enum rlk_setting setting)
{
    return sources->options ? sources->options[setting] : NULL;
}

/* Keep a copy of a variable. Empty means not set, except for a text. Returns false when out of
 * memory. */
static bool keep_variable(struct rlk_sources *sources, enum rlk_setting setting)
{
    const struct rlk_setting_row *row = &rlk_setting_rows[setting];
    const char *text = getenv(row->variable);
    char *copy;

    if (text == NULL || (!text[0] && row->kind != RLK_KIND_TEXT)) {
        return true;
    }
    copy = rlk_alloc(strlen(text) + 1);
    if (copy) {
        strcpy(copy, text);
    }
    sources->variables[setting] = copy;
    return copy != NULL;
}

int rlk_sources_find(struct rlk_sources *sources, bool has_masters,
                     const struct rlk_error_text *error)
{
    int i;

    sources->nodes = (struct rlk_node_list){.from = ""};
    for (i = RLK_SETTING_NODES + 1; i < RLK_SETTINGS; i++) {
        if (!keep_variable(sources, (enum rlk_setting)i)) {
            return rlk_settings_no_memory(error);
        }
    }
    return has_masters
               ? 0
               : rlk_node_list_find(option_of(sources, RLK_SETTING_NODES), error, &sources->nodes);
}

struct rlk_value rlk_lookup(const struct rlk_sources *sources, enum rlk_setting setting)
{
    const struct rlk_setting_row *row = &rlk_setting_rows[setting];
    const struct rlk_node_list *nodes = &sources->nodes;
    struct rlk_value value = {option_of(sources, setting), RLK_FROM_OPTION, ""};

    if (value.text) {
        snprintf(value.from, sizeof(value.from), "--%s", row->name);
    } else if ((value.text = sources->variables[setting])) {
        value.source = RLK_FROM_VARIABLE;
        snprintf(value.from, sizeof(value.from), "%s", row->variable);
    } else if ((value.text = nodes->config.values[setting])) {
        value.source = RLK_FROM_FILE;
        snprintf(value.from, sizeof(value.from), "%s:%u: %s", nodes->path,
                 nodes->config.value_lines[setting], rlk_setting_in_file(setting));
    } else {
        value.source = RLK_FROM_NOTHING;
    }
    return value;
}

void rlk_sources_end(struct rlk_sources *sources)
{
    int i;

    for (i = 0; i < RLK_SETTINGS; i++) {
        rlk_free(sources->variables[i]);
        sources->variables[i] = NULL;
    }
    rlk_node_list_free(&sources->nodes);
}
