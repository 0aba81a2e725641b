/* acquire.h - redlock acquire: acquires a lock and leaves it to the caller. */
#ifndef CLI_SCRIPT_ACQUIRE_H
#define CLI_SCRIPT_ACQUIRE_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_acquire_main(int argc, char **argv);

#endif
