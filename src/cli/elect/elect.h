/* elect.h - redlock elect: run a command while this machine leads. */
#ifndef CLI_ELECT_ELECT_H
#define CLI_ELECT_ELECT_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_elect_main(int argc, char **argv);

#endif
