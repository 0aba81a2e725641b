/* c.hpp - the headers of the C library. */
#ifndef REDLOCK_HPP_C_HPP
#define REDLOCK_HPP_C_HPP

/* redlock_node_info is a struct and a function, which g++ calls shadowing. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <redlock/redlock.h>
#pragma GCC diagnostic pop

#endif
