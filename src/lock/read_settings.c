/* read_settings.c - reads the settings of the command for a program. */
#include <redlock/settings.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "base/wipe.h"
#include "node/options.h"
#include "settings/settings.h"

struct redlock_settings {
    struct rlk_settings found;
};

static int no_masters(const struct rlk_error_text *error, const char *from)
{
    return rlk_settings_refuse(
        error,
        "no masters are named%s%s; set REDLOCK_NODES to their URIs, or write "
        "one URI per line in ~/.config/redlock/nodes or /etc/redlock/nodes "
        "(to try this program: redlock sandbox)",
        from[0] ? " in " : "", from);
}

/* A program's thread must not wait seconds for a shell, and the program's SIGCHLD handler would see
 * the shell end. */
static int refuse_command(const struct rlk_error_text *error, const struct rlk_sources *sources)
{
    struct rlk_value value = rlk_lookup(sources, RLK_SETTING_PASSWORD_COMMAND);

    return rlk_settings_refuse(error,
                               "%s: only the command redlock runs a password command; set "
                               "REDLOCK_PASSWORD_FILE or REDLOCK_PASSWORD, or have the program set "
                               "the password",
                               value.from);
}

static int find_settings(struct rlk_settings *found, struct redlock_options *options)
{
    struct rlk_error_text error = {options->error_text, options->error_text_size};
    int status = rlk_settings_find(NULL, found, options);

    if (status != 0) {
        return status;
    }
    if (options->n_nodes == 0) {
        status = no_masters(&error, found->sources.nodes.from);
    } else if (found->password.command) {
        status = refuse_command(&error, &found->sources);
    }
    if (status != 0) {
        rlk_settings_end(found);
    }
    return status;
}

REDLOCK_EXPORT int redlock_settings_read(struct redlock_options *options,
                                         struct redlock_settings **ret_settings)
{
    struct redlock_options own;
    struct redlock_settings *settings;
    int status = options && ret_settings ? rlk_options_read(options, &own) : REDLOCK_EINVAL;

    if (status != 0) {
        return status;
    }
    settings = rlk_alloc(sizeof(*settings));
    status = settings ? find_settings(&settings->found, &own) : REDLOCK_ENOMEM;
    rlk_wipe_stack();
    if (status != 0) {
        rlk_free(settings);
        return status;
    }
    rlk_sized_write(options, &own, sizeof(own));
    *ret_settings = settings;
    return 0;
}

REDLOCK_EXPORT void redlock_settings_free(struct redlock_settings *settings)
{
    if (settings) {
        rlk_settings_end(&settings->found);
        rlk_free(settings);
    }
}
