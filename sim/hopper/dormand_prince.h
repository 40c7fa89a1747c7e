// The hopper by the embedded Runge-Kutta pair 5(4) of Dormand & Prince (1980), with a step size per lane, continuous
// control, and location of every switch of the equations: within a step they are smooth, so the error estimate is
// valid. Coefficients, controller and dense output after Hairer, Norsett & Wanner, Solving Ordinary Differential
// Equations I (2nd ed.), II.4 to II.6.
//
// All switches are held during a step. If the sign of a switching function has changed at the end, the earliest
// crossing is found on the dense output and the step is repeated up to it, so that the state at the event has the
// method's full order. Then the switches that crossed are turned, regardless of the sign that rounding left. Instants
// known beforehand (end, settle, end of thrust) only shorten a step.
#ifndef HOPSCOTCH_HOPPER_DORMAND_PRINCE_H
#define HOPSCOTCH_HOPPER_DORMAND_PRINCE_H

#include "step_explicit.h"

// ---- switches -------------------------------------------------------------------------------------------------------

// Switching functions; a switch is on if its function is positive.
enum {
    PRINCE_GROUND,   // -height of the foot: it is below the ground
    PRINCE_SINKING,  // -its rate: the ground's damper pushes
    PRINCE_STOP,     // l - r_s0: the leg is in its stop
    PRINCE_PLACING,  // height - z_low: the hip places the foot
    PRINCE_RISING,   // l'
    PRINCE_EXTENDED, // l - r_s0 - 1e-4
    PRINCE_LANDING,  // -hopper_landing: touchdown is nearer than t_match; always off with three states
    PRINCE_FALLEN,   // hopper_fallen: ends the lane
    PRINCE_SWITCHES
};

typedef struct PrinceSwitches {
    mask on[PRINCE_SWITCHES];
} PrinceSwitches;

typedef struct PrinceFunctions {
    real value[PRINCE_SWITCHES];
} PrinceFunctions;

HD PrinceFunctions prince_functions(const HopperWorld *world, const HopperAngles *s, const HopperVector *q,
                                    const HopperVector *v)
{
    const HopperFoot foot = hopper_foot(world, q->x, q->z, v->x, v->z);
    PrinceFunctions g;
    g.value[PRINCE_GROUND] = -foot.height;
    g.value[PRINCE_SINKING] = -foot.rate;
    g.value[PRINCE_STOP] = q->l - world->p.r_s0;
    g.value[PRINCE_PLACING] = foot.height - world->p.z_low;
    g.value[PRINCE_RISING] = v->l;
    g.value[PRINCE_EXTENDED] = q->l - (world->p.r_s0 + 1e-4);
    g.value[PRINCE_LANDING] = splat(-1.0);
    if (hopper_with(world, HOPPER_WITH_FOUR_STATES)) g.value[PRINCE_LANDING] = -hopper_landing(world, s, q, v);
    g.value[PRINCE_FALLEN] = hopper_fallen(world, s, q);
    return g;
}

// A switch has crossed only if its function is this far on the other side (m, m/s, relative to the tolerance). So
// rounding does not make a leg chatter that rests against its stop.
#define PRINCE_DEAD_BAND 1e-2

HD PrinceSwitches prince_sides(const PrinceFunctions *g)
{
    PrinceSwitches sides;
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++) sides.on[k] = MASK(value_of(g->value[k]) > 0.0);
    return sides;
}

// Switches that matter in this state of the machine; the others are set when they begin to matter.
HD PrinceSwitches prince_relevant(const HopperMachine *machine, const PrinceSwitches *switches)
{
    PrinceSwitches relevant;
    relevant.on[PRINCE_GROUND] = all_lanes();
    relevant.on[PRINCE_SINKING] = switches->on[PRINCE_GROUND];
    relevant.on[PRINCE_STOP] = all_lanes();
    relevant.on[PRINCE_PLACING] = hopper_in(machine, HOPPER_FLIGHT);
    relevant.on[PRINCE_RISING] = hopper_in(machine, HOPPER_COMPRESSION);
    relevant.on[PRINCE_EXTENDED] = hopper_in(machine, HOPPER_THRUST);
    relevant.on[PRINCE_LANDING] = hopper_in(machine, HOPPER_FLIGHT);
    relevant.on[PRINCE_FALLEN] = all_lanes();
    return relevant;
}

// All switches as one number of the lane's state between slices.
HD real prince_packed(const PrinceSwitches *switches)
{
    real packed = splat(0.0);
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++)
        packed = packed + select_real(switches->on[k], splat((double)(1 << k)), splat(0.0));
    return packed;
}

HD PrinceSwitches prince_unpacked(real packed)
{
    PrinceSwitches switches;
    UNROLL
    for (int k = PRINCE_SWITCHES - 1; k >= 0; k--) {
        switches.on[k] = MASK(value_of(packed) >= (double)(1 << k));
        packed = packed - select_real(switches.on[k], splat((double)(1 << k)), splat(0.0));
    }
    return switches;
}

// ---- the equations with switches held -------------------------------------------------------------------------------

// Quantities that are constant between two instants known beforehand.
typedef struct PrinceHeld {
    mask thrusting; // in THRUST, within T_max_thrust
    real push;      // N on the body
#if defined(HOPSCOTCH_DUAL)
    HopperAction action; // of fixed steps (located.h)
#endif
} PrinceHeld;

// One evaluation of the equations of motion.
typedef struct PrinceRate {
    HopperRate rate;
    HopperControl control;
    real speed; // of the body's centre of mass
} PrinceRate;

HD PrinceRate prince_rate(const HopperWorld *world, const HopperMachine *machine, const PrinceSwitches *switches,
                          const PrinceHeld *held, real t, const HopperVector *q, const HopperVector *v)
{
    const HopperAngles s = hopper_angles(q->a, q->b);
    const HopperFoot foot = hopper_foot(world, q->x, q->z, v->x, v->z);
    HopperSwitches on;
    HopperContact contact;
    PrinceRate result;
    on.thrusting = held->thrusting;
    on.placing = switches->on[PRINCE_PLACING] & hopper_in(machine, HOPPER_FLIGHT);
    contact.ground = switches->on[PRINCE_GROUND];
    contact.damping = switches->on[PRINCE_GROUND] & switches->on[PRINCE_SINKING];
    contact.stop = switches->on[PRINCE_STOP];
    result.speed = hopper_body_speed(&world->p, &s, q->l, v);
    result.control = hopper_control(world, machine, &on, q, v, result.speed);
#if defined(HOPSCOTCH_DUAL)
    hopper_act(world, &held->action, &result.control);
#endif
    if (world->full) {
        result.control.push = held->push;
        result.control.t = t;
    }
    result.rate = hopper_rate(world, &s, q, v, &result.control, &contact, &foot);
    return result;
}

// ---- one step -------------------------------------------------------------------------------------------------------

enum { PRINCE_STAGES = 7 };

// q and v are of second order, q' = v, so that the sums over stage velocities can be written as sums over stage
// accelerations: with the method's matrix A, weights b, error weights e and dense-output weights d,
//   v_i = v + h sum A[i][j] a_j,   q_i = q + h (c[i] v + h sum AA[i][j] a_j),   AA = A A,  eA = e A,  dA = d A.
typedef struct PrinceTable {
    double A[PRINCE_STAGES][PRINCE_STAGES], AA[PRINCE_STAGES][PRINCE_STAGES];
    double c[PRINCE_STAGES], b[PRINCE_STAGES], e[PRINCE_STAGES], eA[PRINCE_STAGES], d[PRINCE_STAGES], dA[PRINCE_STAGES];
} PrinceTable;

// clang-format off
#define PRINCE_NUMBERS { \
    {{0.0}, \
     {0.2}, \
     {0.075, 0.225}, \
     {0.9777777777777777, -3.7333333333333334, 3.5555555555555554}, \
     {2.9525986892242035, -11.595793324188385, 9.822892851699436, -0.2908093278463649}, \
     {2.8462752525252526, -10.757575757575758, 8.906422717743473, 0.2784090909090909, -0.2735313036020583}, \
     {0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283, 0.13095238095238096}}, \
    {{0.0}, \
     {0.0}, \
     {0.045, 0.0}, \
     {-0.48, 0.8, 0.0}, \
     {-1.8667885992988873, 3.2958390489254685, -1.0339887212315195, 0.0}, \
     {-2.018939393939394, 4.136363636363637, -1.696969696969697, 0.07954545454545454, 0.0}, \
     {0.09114583333333333, 0.0, 0.31446540880503143, 0.13020833333333334, -0.03581957547169811, 0.0}}, \
    {0.0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0, 1.0}, \
    {0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283, 0.13095238095238096, 0.0}, \
    {0.0012326388888888888, 0.0, -0.0042527702905061394, 0.03697916666666667, -0.05086379716981132, \
     0.0419047619047619, -0.025}, \
    {0.002651909722222222, 0.0, -0.006157532195268044, 0.010182291666666666, -0.003402859669811321, \
     -0.003273809523809524, 0.0}, \
    {-1.1270175653862835, 0.0, 2.675424484351598, -5.685526961588504, 3.5219323679207912, -1.7672812570757455, \
     2.382468931778144}, \
    {0.22731102129922817, 0.0, -0.2895051064706962, 0.03484859132786028, -0.2846444853178158, 0.31198997916142357, \
     0.0}}
// clang-format on

HD const PrinceTable *prince_table(void)
{
    TABLE PrinceTable table = PRINCE_NUMBERS;
    return &table;
}

// True if this entry of the table is 0; known at compile time.
HD bool prince_is_zero(const double *entry)
{
    static const PrinceTable known = PRINCE_NUMBERS;
    return ((const double *)&known)[entry - (const double *)prince_table()] == 0.0;
}

// sum over j < count of weight[j] a[j]
HD HopperVector prince_weighted(const double *weight, const HopperVector *a, int count)
{
    HopperVector sum = hopper_scaled(splat(entry_of(&weight[0])), &a[0]);
    UNROLL
    for (int j = 1; j < count; j++)
        if (!prince_is_zero(&weight[j])) sum = hopper_moved(&sum, splat(entry_of(&weight[j])), &a[j]);
    return sum;
}

// The integrands of the metrics, averaged over the step with the method's own weights.
typedef struct PrinceAverages {
    HopperStep step;
    real speed_error2, speed, attitude2;
} PrinceAverages;

HD void prince_average(const HopperWorld *world, PrinceAverages *sum, double weight, const PrinceRate *rate, real b)
{
    const real error = rate->speed - world->p.x_dot_des, w = splat(weight);
    hopper_step_add(world, &sum->step, w, &rate->rate.step);
    sum->speed_error2 = fused(w, error * error, sum->speed_error2);
    sum->speed = fused(w, rate->speed, sum->speed);
    sum->attitude2 = fused(w, b * b, sum->attitude2);
}

typedef struct PrinceStep {
    HopperVector a[PRINCE_STAGES]; // stage accelerations
    HopperVector q, v;             // the result
    PrinceRate last;               // evaluated at the result: the first stage of the next step
    PrinceAverages averages;
    real h, error; // its length; the embedded estimate over the tolerance, accepted if <= 1
} PrinceStep;

HD real prince_square(const HopperVector *a)
{
    return fused(a->x, a->x, fused(a->z, a->z, fused(a->a, a->a, fused(a->b, a->b, a->l * a->l))));
}

// Euclidean norm of the embedded estimate of the ten components, in units of the tolerance (m, rad, m/s, rad/s)
HD real prince_error(const HopperWorld *world, const PrinceStep *step)
{
    const PrinceTable *table = prince_table();
    const HopperVector of_v = prince_weighted(table->e, step->a, PRINCE_STAGES);
    const HopperVector of_q = prince_weighted(table->eA, step->a, PRINCE_STAGES);
    const real h2 = step->h * step->h;
    const real sum = h2 * fused(h2, prince_square(&of_q), prince_square(&of_v));
    return square_root(sum) * (1.0 / world->c.tolerance);
}

// Takes a step of h from (t, q, v), whose rate is `first`.
HD void prince_take(const HopperWorld *world, const HopperLanes *lanes, const PrinceSwitches *switches,
                    const PrinceHeld *held, const PrinceRate *first, real t, real h, PrinceStep *step)
{
    const PrinceTable *table = prince_table();
    const HopperVector *q = &lanes->q, *v = &lanes->v;
    memset(&step->averages, 0, sizeof step->averages);
    step->h = h;
    step->a[0] = first->rate.acceleration;
    prince_average(world, &step->averages, entry_of(&table->b[0]), first, q->b);
    UNROLL // the table's entries become constants, and zero terms vanish
        for (int i = 1; i < PRINCE_STAGES; i++)
    {
        const HopperVector of_v = prince_weighted(table->A[i], step->a, i);
        const HopperVector of_q = prince_weighted(table->AA[i], step->a, i);
        const HopperVector drift = hopper_combined(splat(entry_of(&table->c[i])), v, h, &of_q);
        step->v = hopper_moved(v, h, &of_v);
        step->q = hopper_moved(q, h, &drift);
        const real stage_t = fused(splat(entry_of(&table->c[i])), h, t);
        step->last = prince_rate(world, &lanes->machine, switches, held, stage_t, &step->q, &step->v);
        step->a[i] = step->last.rate.acceleration;
        if (!prince_is_zero(&table->b[i]))
            prince_average(world, &step->averages, entry_of(&table->b[i]), &step->last, step->q.b);
    }
    step->error = prince_error(world, step);
}

// Factor for the next step: 0.9 error^(-1/5) in [0.2, 5]; NaN gives 0.2.
HD real prince_factor(real error)
{
    const real safe = greater_of(error, splat(1e-10)); // NaN: 1e-10, corrected below
    const real factor = clamped(0.9 * exponential(-0.2 * logarithm(safe)), splat(0.2), splat(5.0));
    return select_real(MASK(value_of(error) == value_of(error)), factor, splat(0.2));
}

// ---- dense output ---------------------------------------------------------------------------------------------------

// The continuous extension of fourth order, y(theta) = y0 + theta (y1 - y0 + (1 - theta) (r2 + theta (r3 + (1 - theta)
// r4))) (Hairer, Norsett & Wanner, II.6).
typedef struct PrinceDense {
    HopperVector q[5], v[5];
} PrinceDense;

HD void prince_dense_terms(HopperVector *term, const HopperVector *from, const HopperVector *to, real h,
                           const HopperVector *rate_0, const HopperVector *rate_1, const HopperVector *last)
{
    const real one = splat(1.0), minus = splat(-1.0);
    term[0] = *from;
    term[1] = hopper_combined(one, to, minus, from);
    term[2] = hopper_combined(h, rate_0, minus, &term[1]);
    const HopperVector rest = hopper_combined(one, &term[1], minus, &term[2]);
    term[3] = hopper_combined(-h, rate_1, one, &rest);
    term[4] = *last;
}

HD PrinceDense prince_dense(const HopperVector *q, const HopperVector *v, const PrinceStep *step)
{
    const PrinceTable *table = prince_table();
    const HopperVector none = {splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
    const HopperVector of_v = prince_weighted(table->d, step->a, PRINCE_STAGES);
    const HopperVector of_q = prince_weighted(table->dA, step->a, PRINCE_STAGES);
    const HopperVector last_v = hopper_moved(&none, step->h, &of_v);
    const HopperVector last_q = hopper_moved(&none, step->h * step->h, &of_q);
    PrinceDense dense;
    prince_dense_terms(dense.q, q, &step->q, step->h, v, &step->v, &last_q);
    prince_dense_terms(dense.v, v, &step->v, step->h, &step->a[0], &step->a[PRINCE_STAGES - 1], &last_v);
    return dense;
}

HD HopperVector prince_at(const HopperVector *term, real theta)
{
    const real back = 1.0 - theta;
    HopperVector y = hopper_moved(&term[3], back, &term[4]);
    y = hopper_moved(&term[2], theta, &y);
    y = hopper_moved(&term[1], back, &y);
    return hopper_moved(&term[0], theta, &y);
}

// ---- events ---------------------------------------------------------------------------------------------------------

HD PrinceFunctions prince_functions_at(const HopperWorld *world, const PrinceDense *dense, real theta)
{
    const HopperVector q = prince_at(dense->q, theta), v = prince_at(dense->v, theta);
    const HopperAngles s = hopper_angles(q.a, q.b);
    return prince_functions(world, &s, &q, &v);
}

// The function of each lane's own switch (`which` is one-hot) on the dense output; positive before its crossing.
HD real prince_before(const HopperWorld *world, const PrinceDense *dense, const PrinceSwitches *on,
                      const PrinceSwitches *which, real theta)
{
    const PrinceFunctions g = prince_functions_at(world, dense, theta);
    real value = splat(0.0);
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++)
        value = select_real(which->on[k], select_real(on->on[k], g.value[k], -g.value[k]), value);
    return value;
}

// The lower end of a bracket of the crossing: 0, unless the function starts near or beyond its zero because the switch
// has just turned. Then it is the last of a few early instants at which the function is positive; if there is none, the
// returned value is not positive.
HD void prince_bracket(const HopperWorld *world, const PrinceDense *dense, const PrinceSwitches *on,
                       const PrinceSwitches *which, mask seeking, real *low, real *low_value)
{
    *low = splat(0.0);
    *low_value = prince_before(world, dense, on, which, *low);
    const mask near = seeking & MASK(value_of(*low_value) < 10.0 * world->c.tolerance);
    if (!any_lane(near)) return;
    for (int i = 0; i < 3; i++) {
        const real theta = splat(1.0 / (double)(4096 >> (4 * i))); // 1/4096, 1/256, 1/16
        const real value = prince_before(world, dense, on, which, theta);
        const mask better = near & MASK(value_of(value) > 0.0);
        *low = select_real(better, theta, *low);
        *low_value = select_real(better, value, *low_value);
    }
}

// theta in (0, 1] at which each lane's switch crosses, until the function is within the dead band. By the Illinois
// method (Dowell & Jarratt, BIT 11, 1971), with a bisection every third time, so that the bracket shrinks for any
// function. 0 if the function is not positive anywhere.
HD real prince_crossing(const HopperWorld *world, const PrinceDense *dense, const PrinceSwitches *on,
                        const PrinceSwitches *which, mask seeking)
{
    enum { PRINCE_ROOT_ITERATIONS = 40 };
    const double close = 0.1 * PRINCE_DEAD_BAND * world->c.tolerance;
    real low, low_value, high = splat(1.0), high_value = prince_before(world, dense, on, which, high);
    prince_bracket(world, dense, on, which, seeking, &low, &low_value);
    real theta = select_real(MASK(value_of(low_value) > 0.0), high, splat(0.0));
    seeking = seeking & MASK(value_of(low_value) > 0.0);
    for (int i = 0; i < PRINCE_ROOT_ITERATIONS && any_lane(seeking); i++) {
        const real secant = (low * high_value - high * low_value) / (high_value - low_value);
        const mask inside = MASK(value_of(secant) > value_of(low)) & MASK(value_of(secant) < value_of(high));
        const real middle = 0.5 * (low + high);
        const real next = i % 3 == 2 ? middle : select_real(inside, secant, middle);
        const real value = prince_before(world, dense, on, which, next);
        const mask before = MASK(value_of(value) > 0.0);
        theta = select_real(seeking, next, theta);
        // the value at the end that stays is halved
        high_value = select_real(before, 0.5 * high_value, value);
        low_value = select_real(before, value, 0.5 * low_value);
        high = select_real(before, high, next);
        low = select_real(before, next, low);
        seeking = seeking & MASK(value_of(absolute(value)) > close) & MASK(value_of(high - low) > 1e-13);
    }
    return theta;
}

// Of the switches that cross, the one per lane that would cross first if all functions were straight lines from
// `before` to `after`.
HD PrinceSwitches prince_soonest(const PrinceFunctions *before, const PrinceFunctions *after,
                                 const PrinceSwitches *crossing)
{
    PrinceSwitches soonest;
    real path = splat(1e300), change = splat(1.0); // theta = path / change of the soonest so far
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++) {
        const real own_path = absolute(before->value[k]), own_change = absolute(before->value[k] - after->value[k]);
        const mask sooner = crossing->on[k] & MASK(value_of(own_path * change) < value_of(path * own_change));
        path = select_real(sooner, own_path, path);
        change = select_real(sooner, own_change, change);
        UNROLL
        for (int j = 0; j < PRINCE_SWITCHES; j++) soonest.on[j] = j < k ? soonest.on[j] & ~sooner : sooner;
    }
    return soonest;
}

// The first crossing: its theta, and its switch. It starts with a guess of the switch, and changes to another one as
// long as that one crosses earlier.
HD real prince_first(const HopperWorld *world, const PrinceDense *dense, const PrinceSwitches *on,
                     const PrinceSwitches *crossing, mask any, PrinceSwitches *turning)
{
    const PrinceFunctions before = prince_functions_at(world, dense, splat(0.0));
    PrinceFunctions after = prince_functions_at(world, dense, splat(1.0));
    real first = splat(1.0);
    *turning = prince_soonest(&before, &after, crossing);
    for (int i = 0; i < PRINCE_SWITCHES && any_lane(any); i++) {
        const real theta = prince_crossing(world, dense, on, turning, any);
        first = select_real(any, theta, first);
        after = prince_functions_at(world, dense, first);
        PrinceSwitches earlier;
        mask again = no_lanes();
        UNROLL
        for (int k = 0; k < PRINCE_SWITCHES; k++) {
            const real value = select_real(on->on[k], after.value[k], -after.value[k]);
            earlier.on[k] = any & crossing->on[k] & ~turning->on[k] &
                            MASK(value_of(value) < -PRINCE_DEAD_BAND * world->c.tolerance);
            again = again | earlier.on[k];
        }
        if (!any_lane(again)) break;
        const PrinceSwitches sooner = prince_soonest(&before, &after, &earlier);
        UNROLL
        for (int k = 0; k < PRINCE_SWITCHES; k++) turning->on[k] = (again & sooner.on[k]) | (~again & turning->on[k]);
        any = again;
    }
    return first;
}

// Turns switches and changes the machine's state: the edges of control.h at the instant t. Switches that begin to
// matter are set by the sign of their function.
HD HopperTransitions prince_turn(HopperMachine *machine, PrinceSwitches *switches, const PrinceSwitches *turning,
                                 const PrinceFunctions *g, real t)
{
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++) switches->on[k] = switches->on[k] ^ turning->on[k];
    HopperTransitions edge;
    edge.touchdown = turning->on[PRINCE_GROUND] & switches->on[PRINCE_GROUND] & hopper_flying(machine);
    edge.bottom = turning->on[PRINCE_RISING] & switches->on[PRINCE_RISING] & hopper_in(machine, HOPPER_COMPRESSION);
    edge.lift_off = turning->on[PRINCE_EXTENDED] & switches->on[PRINCE_EXTENDED] & hopper_in(machine, HOPPER_THRUST);
    edge.match = turning->on[PRINCE_LANDING] & switches->on[PRINCE_LANDING] & ~edge.touchdown;
    edge.match = edge.match & hopper_in(machine, HOPPER_FLIGHT);
    hopper_follow(machine, &edge, t);
    const PrinceSwitches sides = prince_sides(g);
    PrinceSwitches fresh;
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++) fresh.on[k] = no_lanes();
    fresh.on[PRINCE_SINKING] = turning->on[PRINCE_GROUND];
    fresh.on[PRINCE_RISING] = edge.touchdown;
    fresh.on[PRINCE_EXTENDED] = edge.bottom;
    fresh.on[PRINCE_LANDING] = edge.lift_off;
    fresh.on[PRINCE_PLACING] = edge.lift_off;
    UNROLL
    for (int k = 0; k < PRINCE_SWITCHES; k++)
        switches->on[k] = (fresh.on[k] & sides.on[k]) | (~fresh.on[k] & switches->on[k]);
    return edge;
}

#endif
