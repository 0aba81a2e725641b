/* settings.c - reads each setting by its row in the table, after the masters and the login. */
#include "settings/settings.h"

#include <redlock/manager.h>

#include "settings/value.h"

static int store_values(const struct rlk_sources *sources, const struct rlk_error_text *error,
                        struct redlock_options *options)
{
    int status = 0, i;

    for (i = 0; i < RLK_SETTINGS && status == 0; i++) {
        const struct rlk_setting_row *row = &rlk_setting_rows[i];
        struct rlk_value value = rlk_lookup(sources, (enum rlk_setting)i);

        if (row->kind != RLK_KIND_OWN && value.text) {
            status = rlk_value_store(row, &value, error, options);
        }
    }
    return status;
}

static int fill(struct rlk_settings *s, const struct rlk_error_text *error,
                struct redlock_options *options)
{
    int status = rlk_sources_find(&s->sources, options->n_nodes > 0, error);

    if (status == 0 && options->password == NULL && options->password_file == NULL) {
        status = rlk_password_find(&s->sources, error, &s->password, options);
    }
    if (status == 0 && options->n_nodes == 0) {
        options->nodes = s->sources.nodes.config.uris;
        options->n_nodes = s->sources.nodes.config.n;
    }
    return status == 0 ? store_values(&s->sources, error, options) : status;
}

int rlk_settings_find(const char *const *given, struct rlk_settings *ret_settings,
                      struct redlock_options *options)
{
    struct rlk_error_text error = {options->error_text, options->error_text_size};
    struct rlk_settings settings = {.sources = {.options = given}};
    int status = fill(&settings, &error, options);

    if (status != 0) {
        rlk_settings_end(&settings);
        return status;
    }
    *ret_settings = settings;
    return 0;
}

void rlk_settings_end(struct rlk_settings *settings)
{
    rlk_password_end(&settings->password);
    rlk_sources_end(&settings->sources);
}
