/* small/space.h - what is searched. */
#ifndef RLK_SMALL_SPACE_H
#define RLK_SMALL_SPACE_H

#include "search/search.h"

extern const struct space space;

#endif
