// Units of names, and the unit that an expression has. A unit is a product of powers of words times a scale: "km/h" is
// m s^-1 times 1/3.6. Words that are not known are units of their own. rad counts as the number 1.
#ifndef HOPSCOTCH_UNITS_H
#define HOPSCOTCH_UNITS_H

#include "expression.h"

enum { UNIT_WORDS_MAX = 8, UNIT_WORD_LENGTH = 24 };

typedef struct Unit {
    const char *word[UNIT_WORDS_MAX]; // base units of the SI first, then others, in alphabetical order
    double power[UNIT_WORDS_MAX];     // none is 0
    int count;
    double scale; // in base units
} Unit;

// OPEN: a name has no unit, so nothing is known. NUMBER: literals alone. KNOWN: a unit.
typedef enum UnitKind { UNIT_OPEN, UNIT_NUMBER, UNIT_KNOWN } UnitKind;

// What is known of a value.
typedef struct UnitValue {
    UnitKind kind;
    bool factored; // a literal was a factor: it may be one between units, so scales are not compared
    Unit unit;
    const char *text; // as the user wrote it; NULL: it was computed
} UnitValue;

// Reads "kg m^2/s^2", "N*m", "1/s", "%". False: it can't be read; *why says why.
bool unit_read(const char *text, Arena *arena, Unit *unit, const char **why);
UnitValue unit_known(const Unit *unit, const char *text);
// The unit as text: as given, else of base units, or a name such as N of what has one, with its scale: "1e-6 A/s".
const char *unit_text(const UnitValue *value, Arena *arena);
// The factor that takes a number in `is` to one in `wanted`, "1e-6"; NULL: they have one size, or other words.
const char *unit_factor_text(const UnitValue *is, const UnitValue *wanted, Arena *arena);
bool unit_same_kind(const Unit *a, const Unit *b); // one can be converted to the other
// Whether a value with the unit `is` may stand where `wanted` is due. Either may be unknown.
bool unit_fits(const UnitValue *is, const UnitValue *wanted);
// The power of a unit; the product of two, or with `times` -1 their quotient. Too many words: it is unknown.
UnitValue unit_power(const UnitValue *value, double power);
UnitValue unit_product(const UnitValue *a, const UnitValue *b, int times);

// Where the units of an expression do not fit: the step, and what is wrong in the arena. step -1: they fit. weighted: a
// literal is a factor of one of the sides. gain: the unit of a factor with which the right side would fit; lacks: that
// of a factor which such a literal could stand for; NULL: none.
typedef struct UnitFault {
    int step;
    bool weighted;
    const char *text, *gain, *lacks;
} UnitFault;

// The units of a table: of its values, and those that its arguments must have.
typedef struct UnitTable {
    UnitValue value, of[2];
} UnitTable;

// The unit of an expression. of(data, index): that of a name of its scope. stack: [UNIT_STACK].
// tables: of those of its scope; NULL: it has none.
enum { UNIT_STACK = 512 };
UnitValue expression_unit(const Expression *expression, UnitValue (*of)(const void *data, int index), const void *data,
                          const UnitTable *tables, UnitValue *stack, Arena *arena, UnitFault *fault);

#endif
