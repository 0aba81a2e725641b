/* wipe.h - removes what a secret has left behind on the stack.
 *
 * The library and the command compile this file each for themselves: the library does not export
 * it. */
#ifndef RLK_BASE_WIPE_H
#define RLK_BASE_WIPE_H

/* Wipe what functions that have returned left on the stack: to be called after a secret was used.
 * Nobody puts it there on purpose, but registers that held it are saved there. */
void rlk_wipe_stack(void);

#endif
