/* sanitizer.h - whether this is compiled for AddressSanitizer, which gcc and clang say in two ways;
 * and what it is told then. */
#ifndef RLK_BASE_SANITIZER_H
#define RLK_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define RLK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RLK_ADDRESS_SANITIZER 1
#endif
#endif

#ifndef RLK_ADDRESS_SANITIZER
#define RLK_ADDRESS_SANITIZER 0
#endif

/* Nobody may touch these bytes; or they may be used again. */
#if RLK_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define RLK_POISON(bytes, size) __asan_poison_memory_region((bytes), (size))
#define RLK_UNPOISON(bytes, size) __asan_unpoison_memory_region((bytes), (size))
#else
#define RLK_POISON(bytes, size) ((void)(bytes), (void)(size))
#define RLK_UNPOISON(bytes, size) ((void)(bytes), (void)(size))
#endif

#endif
