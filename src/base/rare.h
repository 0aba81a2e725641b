/* rare.h - marks a function that is seldom called by another that is called all the time.
 *
 * It is kept out of its caller, which would otherwise save registers for it in each call. */
#ifndef RLK_BASE_RARE_H
#define RLK_BASE_RARE_H

#define RLK_RARE __attribute__((noinline))

/* Code that hardly any call needs: the compiler treats the branch to it as unlikely. */
#define RLK_COLD __attribute__((cold, noinline))

#endif
