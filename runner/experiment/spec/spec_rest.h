// A spec that is made out of another one: what of its resolved text is copied.
#ifndef HOPSCOTCH_SPEC_REST_H
#define HOPSCOTCH_SPEC_REST_H

#include "../../runner.h"

enum { SPEC_REST_MOST = 12 };

typedef struct SpecRest {
    const char *without[SPEC_REST_MOST]; // sections that are left out; NULL after the last
    const char *failed;                  // in place of the objective's `failed`; NULL: that one
} SpecRest;

// Parameters that the new spec gives elsewhere: their lines are left out.
typedef bool SpecDrops(const void *given, int parameter);

void spec_put_rest(const Spec *spec, const SpecRest *rest, SpecDrops *drops, const void *given, Arena *arena,
                   FILE *out);

#endif
