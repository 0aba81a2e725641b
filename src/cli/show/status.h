/* status.h - redlock status: shows who holds a key. */
#ifndef CLI_SHOW_STATUS_H
#define CLI_SHOW_STATUS_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_status_main(int argc, char **argv);

#endif
