/* settings.h - the settings that a companion inherits from its program. */
#ifndef CLI_COMPANION_SETTINGS_H
#define CLI_COMPANION_SETTINGS_H

#include <stddef.h>

#include "cli/session/settings.h"

struct cli_companion_settings {
    struct cli_settings session; /* ready for cli_session_open_with() */
    char *text;                  /* what the others point into; a secret */
};

/* Read them from a file. Returns NULL; or why not, a static sentence, and there is nothing to free.
 */
const char *cli_companion_settings_read(int fd, struct cli_companion_settings *ret_settings);

#endif
