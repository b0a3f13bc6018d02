// spin is a guest that never comes back by itself.
#include "extism.h"

EXPORT("spin") int32_t spin(void) {
  for (volatile uint32_t n = 0;; n++) {
  }
}
