// Tables that a spec declares itself (declared.c), for models whose parameters, metrics, columns and failures are all
// the user's own.
#ifndef HOPSCOTCH_DECLARED_H
#define HOPSCOTCH_DECLARED_H

#include "sim.h"

enum {
    DECLARED_MOST = 1000,      // parameters, metrics, columns: of each
    DECLARED_WORDS_MAX = 256,  // of a parameter
    DECLARED_WORD_LENGTH = 32, // characters
    DECLARED_PARAMETER_FIELDS = 6,
    DECLARED_OUTPUT_FIELDS = 3
};

// The first lists of such a model, in this order.
enum { DECLARED_PARAMETERS, DECLARED_METRICS, DECLARED_COLUMNS };

// The keys of an item of the list of parameters; of metrics or columns. In a List: DECLARED_LIST(rows).
extern const ItemField declared_parameter_fields[DECLARED_PARAMETER_FIELDS];
extern const ItemField declared_output_fields[DECLARED_OUTPUT_FIELDS];
#define DECLARED_LIST(rows) .fields = (rows), .n_fields = (int)(sizeof(rows) / sizeof *(rows)), .most = DECLARED_MOST

// All below: items as the model's `configure` gets them; what they return is in the arena. Error (user), with the place
// in *out: a name is reserved, or a metric's is a parameter's. lists: of the model.
Error declared_check_names(const Points *lists, int list, Configured *out);
// out->parameters, also *table <- the rows of the parameters, with room for one row more; out->choices <- their words.
// whose: "program", of which they are where the spec gives no doc. Error (user), with the place in *out: a value or a
// range is wrong.
Error declared_parameters(const Points *items, const char *whose, Arena *arena, Parameter **table, Configured *out);
// [items->count] rows; doc: where the spec gives none. Room is left for one row more.
Field *declared_fields(const Points *items, const char *doc, const char *group, Arena *arena);
// The names of the failures: builtin[n_builtin], then the spec's own, which are the option of this index. Error (user),
// with the place in *out: one of them is built in.
Error declared_failures(const char *const *builtin, int n_builtin, const Points *own, int option, Arena *arena,
                        Configured *out);

#endif
