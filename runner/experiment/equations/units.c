// Units of a system: which its names have, and whether those of its equations fit.
#include "equations.h"

#include <string.h>

UnitValue equations_unit_of(SystemReader *reader, const Node *mapping)
{
    const Node *node = node_find(mapping, "unit");
    const char *text = equations_text_of(reader, mapping, "unit"), *why;
    Unit unit;
    if (text == NULL) return (UnitValue){.kind = UNIT_OPEN};
    if (unit_read(text, reader->arena, &unit, &why)) return unit_known(&unit, text);
    diagnose(reader->diagnostics, node, "the unit '%.60s' can't be read: %s", text, why);
    return (UnitValue){.kind = UNIT_OPEN};
}

UnitValue equations_seconds(const SystemReader *reader)
{
    Unit unit = {.scale = 1.0};
    if (reader->system->is_map) return unit_known(&unit, "1");
    unit.word[0] = "s";
    unit.power[0] = 1.0;
    unit.count = 1;
    return unit_known(&unit, "s");
}

UnitValue equations_unit_named(SystemReader *reader, const char *name)
{
    for (int i = 0; i < reader->n_names; i++)
        if (reader->names[i].kind != SYSTEM_NAME_LET && strcmp(reader->names[i].name, name) == 0)
            return reader->names[i].value;
    return (UnitValue){.kind = UNIT_OPEN};
}

// ---- expressions ----------------------------------------------------------------------------------------------------

typedef struct UnitsOf {
    const SystemReader *reader;
    const SystemScope *scope;
} UnitsOf;

static UnitValue units_of_name(const void *data, int index)
{
    const UnitsOf *of = data;
    const SystemName *name = &of->reader->names[of->scope->of[index]];
    return name->kind == SYSTEM_NAME_LET && of->scope->any ? name->common : name->value;
}

// How a number that stands for a quantity gets its unit; unit NULL: "".
static const char *units_constant(const SystemReader *reader, const char *unit)
{
    if (unit == NULL) return "";
    return arena_format(reader->arena, "; a constant gets its unit so: `let: {c: {value: 2, unit: %s}}`", unit);
}

static void units_report_fault(SystemReader *reader, const Node *node, const Expression *expression,
                               const UnitFault *fault)
{
    const ExpressionStep *step = &expression->steps[fault->step];
    const int width = (int)strlen(expression_row(expression->steps, fault->step)->text);
    const char *remedy = reader->sampled ? "; a factor, as in 1*x, would weigh it" : "";
    if (reader->law && fault->gain != NULL)
        remedy = arena_format(reader->arena, "; a gain in %s on the right would fit", fault->gain);
    if (!reader->sampled) remedy = arena_format(reader->arena, "%s%s", remedy, units_constant(reader, fault->lacks));
    expression_diagnose(reader->diagnostics, node, step->at, width, "%s%s", fault->text, remedy);
}

static void units_report_other(SystemReader *reader, const Node *node, const UnitValue *is, const UnitValue *wanted,
                               const char *what)
{
    const char *factor = unit_factor_text(is, wanted, reader->arena);
    const UnitValue lacks = unit_product(wanted, is, -1);
    const bool constant = factor == NULL && is->factored && lacks.kind == UNIT_KNOWN;
    diagnose(reader->diagnostics, node, "%s has the unit %s, and this is in %s%s%s%s", what,
             unit_text(wanted, reader->arena), unit_text(is, reader->arena), factor != NULL ? ": multiply it by " : "",
             factor != NULL ? factor : "", units_constant(reader, constant ? unit_text(&lacks, reader->arena) : NULL));
}

UnitValue equations_units(SystemReader *reader, const Node *node, const Expression *expression,
                          const SystemScope *scope, const UnitValue *wanted, const char *what)
{
    const UnitsOf of = {reader, scope};
    UnitFault fault;
    double number;
    const UnitValue is =
        expression_unit(expression, units_of_name, &of, reader->table_units, reader->stack, reader->arena, &fault);
    const bool zero = expression_constant(expression->steps, expression->count - 1, &number) && number == 0.0;
    reader->n_expressions++;
    reader->n_checked += is.kind == UNIT_KNOWN || zero || (is.kind == UNIT_NUMBER && wanted == NULL)
                             ? wanted == NULL || zero || wanted->kind == UNIT_KNOWN
                             : fault.step >= 0;
    if (fault.step >= 0 && reader->sampled && fault.weighted) return (UnitValue){.kind = UNIT_OPEN}; // a sum of costs
    if (fault.step >= 0)
        units_report_fault(reader, node, expression, &fault);
    else if (wanted != NULL && !unit_fits(&is, wanted))
        units_report_other(reader, node, &is, wanted, what);
    return is;
}

// ---- shorthands -----------------------------------------------------------------------------------------------------

// The unit that shorthands of one name have in all their modes.
static void units_find_common(SystemReader *reader, int name)
{
    UnitValue common = reader->names[name].value;
    for (int i = 0; i < reader->n_lets; i++) {
        const SystemName *other = &reader->names[reader->lets[i].name];
        if (strcmp(other->name, reader->names[name].name) != 0 || common.kind == UNIT_OPEN) continue;
        if (other->value.kind != common.kind || !unit_fits(&other->value, &common)) common.kind = UNIT_OPEN;
    }
    reader->names[name].common = common;
}

void equations_let_units(SystemReader *reader)
{
    for (int i = 0; i < reader->n_done; i++) {
        const SystemLet *let = &reader->lets[reader->done[i]];
        SystemName *name = &reader->names[let->name];
        if (let->expression == NULL) continue;
        const Node *node = name->node->kind == NODE_MAPPING ? node_find(name->node, "value") : name->node;
        const SystemScope *scope = equations_scope(reader, let->mode, false);
        const bool given = name->value.kind == UNIT_KNOWN;
        const UnitValue is =
            equations_units(reader, node, let->expression, scope, given ? &name->value : NULL, name->name);
        if (!given) name->value = is;
    }
    for (int i = 0; i < reader->n_lets; i++) units_find_common(reader, reader->lets[i].name);
}

// ---- what is said -----------------------------------------------------------------------------------------------

const char *equations_shown_unit(SystemReader *reader, const Node *mapping, const UnitValue *value, const char *name)
{
    const UnitValue given = equations_unit_of(reader, mapping);
    if (given.kind != UNIT_KNOWN) return unit_text(value, reader->arena);
    if (unit_fits(value, &given)) return given.text;
    const char *is = unit_text(value, reader->arena);
    const char *factor = unit_factor_text(value, &given, reader->arena); // a unit such as cm for metres
    const bool plain = !(is[0] >= '0' && is[0] <= '9') || is[0] == '1';  // no number stands before it
    if (factor != NULL)
        diagnose(reader->diagnostics, node_find(mapping, "unit"),
                 "%s is in %s: %s%s%smultiply the expression by %s for %s", name, is, plain ? "write unit: " : "",
                 plain ? is : "", plain ? ", or " : "", factor, given.text);
    else
        diagnose(reader->diagnostics, node_find(mapping, "unit"), "%s is in %s, not in %s", name, is, given.text);
    return given.text;
}

const char *equations_unitless(SystemReader *reader)
{
    enum { SHOWN = 6 };
    const char *names = NULL;
    int n = 0;
    for (int i = 0; i < reader->n_names; i++) {
        const SystemName *name = &reader->names[i];
        if (name->value.kind != UNIT_OPEN || name->kind == SYSTEM_NAME_LET || name->kind == SYSTEM_NAME_TIME) continue;
        if (n++ < SHOWN)
            names = arena_format(reader->arena, "%s%s%s", n > 1 ? names : "", n > 1 ? ", " : "", name->name);
    }
    return n > SHOWN ? arena_format(reader->arena, "%s and %d more", names, n - SHOWN) : names;
}
