/* extend.h - redlock extend: makes a lock live longer, by its token. */
#ifndef CLI_SCRIPT_EXTEND_H
#define CLI_SCRIPT_EXTEND_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_extend_main(int argc, char **argv);

#endif
