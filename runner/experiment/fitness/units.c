// Whether objectives, constraints and derived parameters add what has one unit: a remark, because sums of costs may be
// meant. A side with a literal factor is weighted, and is not looked at.
#include "../experiment.h"

#include "../expression/units.h"

#include <string.h>

typedef struct FitnessUnits {
    const Spec *spec;
    int first_parameter; // index of the first parameter among the names
    Arena *arena;
} FitnessUnits;

// A unit 1 may also stand for one that is not given.
static UnitValue fitness_unit_of(const void *data, int index)
{
    const FitnessUnits *units = data;
    const Configured *configured = &units->spec->configured;
    const char *text = index < units->first_parameter ? configured->metrics[index].unit
                                                      : configured->parameters[index - units->first_parameter].unit;
    const char *why;
    Unit unit;
    if (text == NULL || strcmp(text, "1") == 0 || !unit_read(text, units->arena, &unit, &why))
        return (UnitValue){.kind = UNIT_OPEN};
    return unit_known(&unit, text);
}

static const char *fitness_unit_fault(const FitnessUnits *units, const Expression *expression, const char *what,
                                      UnitValue *stack)
{
    UnitFault fault;
    expression_unit(expression, fitness_unit_of, units, NULL, stack, units->arena, &fault);
    if (fault.step < 0 || fault.weighted) return NULL;
    return arena_format(units->arena, "%s has %.*s: values of different units; a factor would weigh one of them", what,
                        (int)strcspn(fault.text, ":"), fault.text);
}

const char *fitness_units(const Spec *spec, Arena *arena)
{
    UnitValue *stack = ARENA_NEW(arena, UnitValue, UNIT_STACK);
    FitnessUnits units = {.spec = spec, .first_parameter = spec->configured.n_metrics, .arena = arena};
    const char *fault = NULL;
    for (int k = 0; k < spec->objective.count && fault == NULL; k++)
        fault = fitness_unit_fault(&units, spec->objective.expression[k], "the objective", stack);
    for (int k = 0; k < spec->n_constraints && fault == NULL; k++)
        fault = fitness_unit_fault(&units, spec->constraints[k], arena_format(arena, "constraint %d", k + 1), stack);
    units.first_parameter = 0; // derived parameters see parameters only
    for (int a = 0; a < spec->n_axes + spec->n_derived && fault == NULL; a++) {
        const Axis *axis = &spec->axes[a];
        if (axis->derive != NULL)
            fault = fitness_unit_fault(&units, axis->derive, spec->configured.parameters[axis->parameter].name, stack);
    }
    return fault;
}
