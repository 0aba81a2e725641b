/* sanitizer.h - whether this is compiled for AddressSanitizer, which gcc and clang say in two ways.
 */
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

#endif
