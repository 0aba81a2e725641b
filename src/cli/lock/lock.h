/* lock.h - redlock lock: run a command while holding a lock. */
#ifndef CLI_LOCK_LOCK_H
#define CLI_LOCK_LOCK_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_lock_main(int argc, char **argv);

#endif
