// The forces of a world, as the spec declares them, and its inputs, which are forces that control gives.
#include "world.h"

// Keys that only an input has.
static Error world_check_no_input(const RigidWorldSpec *spec, int64_t item)
{
    const char *key = *FORCE(item, "axes") >= 0.0     ? "axes"
                      : *FORCE(item, "hinge") >= 0.0  ? "hinge"
                      : !isnan(*FORCE(item, "range")) ? "range"
                                                      : NULL;
    if (key == NULL) return error_none();
    return error_make(ERROR_USER, "%s of %s: only a force of type input has one", key, spec->forces.names[item]);
}

// Keys that an input does not have.
static Error world_check_input_alone(const RigidWorldSpec *spec, int64_t item)
{
    static const char *const others[] = {"linear", "area", "stiffness", "damping", "length", "packed"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (*FORCE(item, others[k]) != 0.0)
            return error_make(ERROR_USER, "%s of %s: an input has only a direction and a range", others[k],
                              spec->forces.names[item]);
    return error_none();
}

// The torque of a motor in the hinge: its axis goes with body a.
static Error world_take_hinge(const RigidWorldSpec *spec, int64_t item, const RigidBody *bodies, RigidForce *force)
{
    const char *name = spec->forces.names[item];
    const int64_t hinge = (int64_t)*FORCE(item, "hinge");
    const char *of = spec->constraints.names[hinge];
    const int b = (int)*CONSTRAINT(hinge, "b"), i = (int)*CONSTRAINT(hinge, "a"), n = (int)spec->bodies.count;
    const double *given = CONSTRAINT(hinge, "axis"), up[3] = {0, 0, 1}, *axis = isnan(given[0]) ? up : given;
    if ((int)*CONSTRAINT(hinge, "type") != WORLD_HINGE)
        return error_make(ERROR_USER, "%s acts about %s, which is no hinge", name, of);
    if (force->i != i && force->i != b)
        return error_make(ERROR_USER, "%s acts on %s, which the hinge %s does not hold", name,
                          spec->bodies.names[force->i], of);
    if (*FORCE(item, "b") >= 0.0 || *FORCE(item, "axes") >= 0.0)
        return error_make(ERROR_USER, "%s acts about the hinge %s, which says what b and axes would: leave them out",
                          name, of);
    force->j = force->i != i ? i : b < 0 ? n : b;
    force->axes = force->i;
    world_turn(bodies[force->i].q, -1.0, axis, force->torque);
    return error_none();
}

static Error world_take_input(const RigidWorldSpec *spec, int64_t item, const RigidBody *bodies, RigidForce *force)
{
    const char *name = spec->forces.names[item];
    const double *range = FORCE(item, "range"), axes = *FORCE(item, "axes");
    TRY(world_check_input_alone(spec, item));
    const bool pushes = world_length(force->force) > 1e-9, turns = world_length(force->torque) > 1e-9,
               hinged = *FORCE(item, "hinge") >= 0.0;
    if (pushes + turns + hinged != 1)
        return error_make(ERROR_USER,
                          "%s has %s direction: an input has one of force: [0, 0, 1], torque: [0, 0, 1] and "
                          "hinge: NAME",
                          name, pushes + turns + hinged == 0 ? "no" : "more than one");
    force->turns = !pushes;
    force->axes = axes < 0.0 ? (int)spec->bodies.count : (int)axes;
    force->low = isnan(range[0]) ? -INFINITY : range[0];
    force->high = isnan(range[0]) ? INFINITY : range[1];
    if (!(force->low < force->high))
        return error_make(ERROR_USER, "range of %s is [%g, %g], expected [least, greatest]", name, range[0], range[1]);
    if (hinged) TRY(world_take_hinge(spec, item, bodies, force));
    if (pushes && *FORCE(item, "b") >= 0.0)
        return error_make(ERROR_USER, "%s is a force on %s alone: leave b out", name, spec->bodies.names[force->i]);
    if (force->i == force->j)
        return error_make(ERROR_USER, "%s turns a body against itself: a and b must differ", name);
    double *direction = pushes ? force->force : force->torque;
    const double length = world_length(direction);
    for (int k = 0; k < 3; k++) direction[k] /= length;
    return error_none();
}

// ---- forces ---------------------------------------------------------------------------------------------------------

Error world_take_force(const RigidWorldSpec *spec, int64_t item, const RigidBody *bodies, RigidForce *force)
{
    const int b = (int)*FORCE(item, "b");
    const double *speed = FORCE(item, "speed"), *altitude = FORCE(item, "altitude");
    *force = (RigidForce){.kind = (int)*FORCE(item, "type"),
                          .i = (int)*FORCE(item, "a"),
                          .j = b < 0 ? (int)spec->bodies.count : b,
                          .input = {-1, -1, -1},
                          .linear = *FORCE(item, "linear"),
                          .quadratic = *FORCE(item, "area"),
                          .stiffness = *FORCE(item, "stiffness"),
                          .damping = *FORCE(item, "damping"),
                          .length = *FORCE(item, "length"),
                          .packed = *FORCE(item, "packed"),
                          .open = *FORCE(item, "area"),
                          .rate = *FORCE(item, "rate"),
                          .speed = isnan(*speed) ? INFINITY : *speed,
                          .altitude = isnan(*altitude) ? -INFINITY : *altitude,
                          .jumps = (int)*FORCE(item, "opening")};
    memcpy(force->at_i, FORCE(item, "at_a"), sizeof force->at_i);
    memcpy(force->at_j, FORCE(item, "at_b"), sizeof force->at_j);
    memcpy(force->force, FORCE(item, "force"), sizeof force->force);
    memcpy(force->torque, FORCE(item, "torque"), sizeof force->torque);
    if (force->kind == RIGID_INPUT)
        TRY(world_take_input(spec, item, bodies, force));
    else
        TRY(world_check_no_input(spec, item));
    if (bodies[force->i].fixed != 0 && bodies[force->j].fixed != 0)
        return error_make(ERROR_USER, "%s acts on fixed bodies only: one must be able to move",
                          spec->forces.names[item]);
    if (force->kind == RIGID_PARACHUTE && isnan(*speed) && isnan(*altitude))
        return error_make(ERROR_USER, "%s never opens: give speed or altitude", spec->forces.names[item]);
    return error_none();
}

int32_t world_number_inputs(RigidForce *forces, int count)
{
    int32_t inputs = 0;
    for (int f = 0; f < count; f++) {
        forces[f].number = forces[f].kind == RIGID_INPUT ? inputs : 0;
        inputs += forces[f].kind == RIGID_INPUT;
    }
    return inputs;
}

int32_t world_is_damped(const RigidForce *forces, int count)
{
    int32_t damped = 0;
    for (int f = 0; f < count; f++) {
        const bool pair = forces[f].kind == RIGID_SPRING || forces[f].kind == RIGID_TETHER;
        damped |= forces[f].kind == RIGID_DRAG || forces[f].kind == RIGID_PARACHUTE || forces[f].damping != 0.0 ||
                  (pair && forces[f].input[1] >= 0);
    }
    return damped;
}

int32_t world_is_powered(const RigidForce *forces, int count)
{
    int32_t powered = 0;
    for (int f = 0; f < count; f++)
        powered |= forces[f].kind == RIGID_SPRING || forces[f].kind == RIGID_TETHER || forces[f].kind == RIGID_PUSH ||
                   forces[f].kind == RIGID_INPUT;
    return powered;
}
