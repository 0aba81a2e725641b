/* nodes.h - redlock nodes: shows the state of each master. */
#ifndef CLI_SHOW_NODES_H
#define CLI_SHOW_NODES_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_nodes_main(int argc, char **argv);

#endif
