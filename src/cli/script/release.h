/* release.h - redlock release: releases a lock by its token. */
#ifndef CLI_SCRIPT_RELEASE_H
#define CLI_SCRIPT_RELEASE_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_release_main(int argc, char **argv);

#endif
