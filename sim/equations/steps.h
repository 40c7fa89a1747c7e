// Steps of the integrators of `equations`: from the state y with rates f to the frame's `next` and `next_f`, and the
// continuous extension between them. Coefficients and error estimate of dormand_prince after Hairer, Norsett & Wanner,
// Solving Ordinary Differential Equations I (2nd ed.), II.4 to II.6; rk4: II.1.
#ifndef HOPSCOTCH_EQUATIONS_STEPS_H
#define HOPSCOTCH_EQUATIONS_STEPS_H

#include "noise.h"

// What a step gives beside its state: the error over the tolerance, accepted if <= 1; its failure, 0: none.
typedef struct EquationsStep {
    real error, failure;
} EquationsStep;

HD int equations_stage(const EquationsLane *lane, int stage) { return lane->c->stage + stage * lane->c->n_total; }

// ---- dormand_prince -------------------------------------------------------------------------------------------------

enum { EQUATIONS_STAGES = 7 };
#define EQUATIONS_INTEGRAL 1e-3 // the size of an integral that counts as small
typedef struct EquationsTable {
    double A[EQUATIONS_STAGES][EQUATIONS_STAGES];
    double c[EQUATIONS_STAGES], e[EQUATIONS_STAGES], d[EQUATIONS_STAGES];
} EquationsTable;

HD const EquationsTable *equations_table(void)
{
    // clang-format off
    TABLE EquationsTable table = {
        {{0.0},
         {0.2},
         {0.075, 0.225},
         {0.9777777777777777, -3.7333333333333334, 3.5555555555555554},
         {2.9525986892242035, -11.595793324188385, 9.822892851699436, -0.2908093278463649},
         {2.8462752525252526, -10.757575757575758, 8.906422717743473, 0.2784090909090909, -0.2735313036020583},
         {0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283, 0.13095238095238096}},
        {0.0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0, 1.0},
        {0.0012326388888888888, 0.0, -0.0042527702905061394, 0.03697916666666667, -0.05086379716981132,
         0.0419047619047619, -0.025},
        {-1.1270175653862835, 0.0, 2.675424484351598, -5.685526961588504, 3.5219323679207912, -1.7672812570757455,
         2.382468931778144}};
    // clang-format on
    return &table;
}

// sum of weight[j] stage j, of number i; weights that are 0 are left out
HD real equations_weighted(const EquationsLane *lane, const double *weight, int count, int i)
{
    real sum = splat(0.0);
    bool any = false;
    UNROLL
    for (int j = 0; j < count; j++) {
        const double w = entry_of(&weight[j]);
        if (w == 0.0) continue;
        const real k = frame_get(lane->frame, equations_stage(lane, j) + i);
        sum = any ? fused(splat(w), k, sum) : w * k;
        any = true;
    }
    return sum;
}

// The errors errors[n_total] of the frame over the tolerances: of the states the root of the mean square, or that of an
// integral if one is greater. The tolerance of an integral is relative to it and to what the step adds; where what is
// integrated jumps, steps need not be shorter than 1e-9 of the duration.
HD real equations_error(const EquationsLane *lane, real h, int errors)
{
    real sum = splat(0.0), most = splat(0.0);
    FRAME_EACH
    for (int i = 0; i < lane->c->n_states; i++) {
        const real error = frame_get(lane->frame, errors + i);
        const real y = absolute(frame_get(lane->frame, lane->c->y + i)),
                   next = absolute(frame_get(lane->frame, lane->c->next + i));
        const real scale = lane->c->tolerance * (lane->assets[lane->c->scale + i] + greater_of(y, next));
        const real part = error / scale;
        sum = fused(part, part, sum);
    }
    FRAME_EACH
    for (int i = lane->c->n_states; i < lane->c->n_total; i++) {
        const real error = absolute(frame_get(lane->frame, errors + i));
        const real rate = greater_of(absolute(frame_get(lane->frame, lane->c->f + i)),
                                     absolute(frame_get(lane->frame, lane->c->next_f + i)));
        const real size = fused(h, rate, absolute(frame_get(lane->frame, lane->c->next + i)));
        most = greater_of(error / (lane->c->tolerance * (EQUATIONS_INTEGRAL + size)), most); // NaN: the metric has it
    }
    most = select_real(MASK(h > 1e-9 * lane->c->duration), most, splat(0.0));
    return greater_of(most, square_root(sum / (double)lane->c->n_states));
}

HD_CALL EquationsStep equations_dormand_prince_step(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    equations_owns_memory(lane);
    const EquationsTable *table = equations_table();
    const EquationsConstants *c = lane->c;
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++)
        frame_set(lane->frame, equations_stage(lane, 0) + i, frame_get(lane->frame, c->f + i));
    UNROLL
    for (int s = 1; s < EQUATIONS_STAGES; s++) {
        const bool last = s == EQUATIONS_STAGES - 1;
        FRAME_EACH
        for (int i = 0; i < (last ? c->n_total : c->n_states); i++) {
            const real y = fused(h, equations_weighted(lane, table->A[s], s, i), frame_get(lane->frame, c->y + i));
            if (last) frame_set(lane->frame, c->next + i, y);
            if (i < c->n_states) frame_set(lane->file, 1 + i, y);
        }
        equations_at(lane, fused(splat(entry_of(&table->c[s])), h, t));
        equations_rates(lane, equations_stage(lane, s), which);
    }
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++)
        frame_set(lane->frame, c->next_f + i, frame_get(lane->frame, equations_stage(lane, EQUATIONS_STAGES - 1) + i));
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++)
        frame_set(lane->frame, c->dense + i, h * equations_weighted(lane, table->e, EQUATIONS_STAGES, i));
    const EquationsStep step = {equations_error(lane, h, c->dense), splat(0.0)};
    return step;
}

// ---- fixed steps ----------------------------------------------------------------------------------------------------

// next <- y + h stage, of all numbers; the arguments too
HD void equations_move(const EquationsLane *lane, int stage, real h)
{
    FRAME_EACH
    for (int i = 0; i < lane->c->n_total; i++) {
        const real y = fused(h, frame_get(lane->frame, stage + i), frame_get(lane->frame, lane->c->y + i));
        frame_set(lane->frame, lane->c->next + i, y);
        if (i < lane->c->n_states) frame_set(lane->file, 1 + i, y);
    }
}

// The rates at the end of a step, for the next one and for the continuous extension.
HD EquationsStep equations_end_step(const EquationsLane *lane, real t, real h, mask which)
{
    const EquationsStep step = {splat(0.0), splat(0.0)};
    equations_argue(lane, lane->c->next);
    equations_at(lane, t + h);
    equations_rates(lane, lane->c->next_f, which);
    return step;
}

HD_CALL EquationsStep equations_rk4_step(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    const real half = 0.5 * h, sixth = 0.16666666666666666 * h;
    const int k2 = equations_stage(lane, 1), k3 = equations_stage(lane, 2), k4 = equations_stage(lane, 3);
    equations_move(lane, c->f, half);
    equations_at(lane, t + half);
    equations_rates(lane, k2, which);
    equations_move(lane, k2, half);
    equations_rates(lane, k3, which);
    equations_move(lane, k3, h);
    equations_at(lane, t + h);
    equations_rates(lane, k4, which);
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++) {
        const real outer = frame_get(lane->frame, c->f + i) + frame_get(lane->frame, k4 + i);
        const real inner = frame_get(lane->frame, k2 + i) + frame_get(lane->frame, k3 + i);
        frame_set(lane->frame, c->next + i,
                  fused(sixth, fused(splat(2.0), inner, outer), frame_get(lane->frame, c->y + i)));
    }
    return equations_end_step(lane, t, h, which);
}

// Velocities first, then positions with the new ones. A position is a state whose rate is another state.
HD_CALL EquationsStep equations_semi_implicit_euler_step(const EquationsLane *UNALIASED lane, real t, real h,
                                                         mask which)
{
    const EquationsConstants *c = lane->c;
    const int rates = equations_stage(lane, 0);
    equations_move(lane, c->f, h);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++)
        if (equations_integer(lane, c->positions + i) != 0)
            frame_set(lane->file, 1 + i, frame_get(lane->frame, c->y + i));
    equations_at(lane, t);
    equations_rates(lane, rates, which);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++) {
        if (equations_integer(lane, c->positions + i) == 0) continue;
        frame_set(lane->frame, c->next + i,
                  fused(h, frame_get(lane->frame, rates + i), frame_get(lane->frame, c->y + i)));
    }
    return equations_end_step(lane, t, h, which);
}

// Euler's method for Ito's equations (G. Maruyama, Rend. Circ. Mat. Palermo 4, 1955; P. E. Kloeden & E. Platen,
// Numerical Solution of Stochastic Differential Equations, 1992, 10.2): y + h f + sigma D. Strong order 0.5, and 1 if
// sigma does not depend on the state; weak order 1.
HD_CALL EquationsStep equations_euler_maruyama_step(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    const EquationsConstants *c = lane->c;
    equations_sizes_of_noise(lane, equations_sigma(lane), t, which);
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++) {
        real y = fused(h, frame_get(lane->frame, c->f + i), frame_get(lane->frame, c->y + i));
        if (i < c->n_states)
            y = fused(frame_get(lane->frame, equations_sigma(lane) + i), equations_step_increment(lane, i), y);
        frame_set(lane->frame, c->next + i, y);
    }
    return equations_end_step(lane, t, h, which);
}

// SRA3 of A. Roessler, Runge-Kutta methods for the strong approximation of solutions of stochastic differential
// equations, SIAM J. Numer. Anal. 48, 2010, 922-952, for sigma that depends on time alone: strong order 1.5, and 3
// without noise. With I = (1/h) integral of W = H + D/2:
//     k1 = f(t, y), k2 = f(t + h, y + h k1), k3 = f(t + h/2, y + h (k1 + k2)/4 + (sigma(t + h) + sigma(t)/2) I),
//     y + h (k1 + k2 + 4 k3)/6 + sigma(t + h) D + (sigma(t) - sigma(t + h)) I
HD_CALL EquationsStep equations_sra3_step(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    const EquationsConstants *c = lane->c;
    const int k2 = equations_stage(lane, 0), k3 = equations_stage(lane, 1);
    equations_sizes_of_noise(lane, equations_sigma(lane), t, which);
    equations_sizes_of_noise(lane, equations_sigma_end(lane), t + h, which);
    equations_move(lane, c->f, h);
    equations_at(lane, t + h);
    equations_rates(lane, k2, which);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++) {
        const real sigma = frame_get(lane->frame, equations_sigma(lane) + i),
                   end = frame_get(lane->frame, equations_sigma_end(lane) + i);
        const real slope = frame_get(lane->frame, c->f + i) + frame_get(lane->frame, k2 + i);
        const real y = fused(0.25 * h, slope, frame_get(lane->frame, c->y + i));
        frame_set(lane->file, 1 + i, fused(fused(splat(0.5), sigma, end), equations_step_mean(lane, i), y));
    }
    equations_at(lane, fused(splat(0.5), h, t));
    equations_rates(lane, k3, which);
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++) {
        const real outer = frame_get(lane->frame, c->f + i) + frame_get(lane->frame, k2 + i);
        const real slope = fused(splat(4.0), frame_get(lane->frame, k3 + i), outer);
        real noise = splat(0.0), bend = splat(0.0);
        if (i < c->n_states && equations_source(lane, i) >= 0) {
            const real sigma = frame_get(lane->frame, equations_sigma(lane) + i),
                       end = frame_get(lane->frame, equations_sigma_end(lane) + i), mean = equations_step_mean(lane, i),
                       increment = equations_step_increment(lane, i);
            noise = fused(sigma - end, mean, end * increment);
            bend = 3.0 * (sigma + end) * fused(splat(-0.5), increment, mean);
        }
        frame_set(lane->frame, equations_noise_change(lane) + i, noise);
        frame_set(lane->frame, equations_noise_bend(lane) + i, bend);
        frame_set(lane->frame, c->next + i,
                  fused(0.16666666666666666 * h, slope, frame_get(lane->frame, c->y + i)) + noise);
    }
    return equations_end_step(lane, t, h, which);
}

// One iteration of a map, whose noise is N(0, sigma^2).
HD_CALL EquationsStep equations_map_step(const EquationsLane *UNALIASED lane, real t, mask which)
{
    const EquationsStep step = {splat(0.0), splat(0.0)};
    const bool noisy = equations_has_noise(lane);
    if (noisy) equations_sizes_of_noise(lane, equations_sigma(lane), t, which);
    FRAME_EACH
    for (int i = 0; i < lane->c->n_total; i++) {
        const bool sum = i >= lane->c->n_states; // an integral of a map is a sum
        const real f = frame_get(lane->frame, lane->c->f + i);
        real next = sum ? frame_get(lane->frame, lane->c->y + i) + f : f;
        if (noisy && !sum)
            next = fused(frame_get(lane->frame, equations_sigma(lane) + i), equations_step_increment(lane, i), next);
        frame_set(lane->frame, lane->c->next + i, next);
    }
    equations_argue(lane, lane->c->next);
    equations_at(lane, t + 1.0);
    equations_rates(lane, lane->c->next_f, which);
    return step;
}

// ---- implicit methods: linear equations of a lane -------------------------------------------------------------------
// matrix[n][n] by rows, then a vector[n] for the right side, n = n_total. LU with partial pivoting of the states' rows;
// rows move, so that each lane has an order of its own. States don't depend on integrals, whose rows follow.

HD int equations_element(const EquationsLane *lane, int i, int j) { return lane->c->matrix + i * lane->c->n_total + j; }
HD int equations_right(const EquationsLane *lane, int i)
{
    return lane->c->matrix + lane->c->n_total * lane->c->n_total + i;
}

HD void equations_swap(const EquationsLane *lane, int a, int b, mask which)
{
    const real x = frame_get(lane->frame, a), y = frame_get(lane->frame, b);
    frame_put(lane->frame, a, y, which);
    frame_put(lane->frame, b, x, which);
}

// Decomposes the matrix; row i of the pivots stands behind the right side.
HD_CALL void equations_decompose(const EquationsLane *UNALIASED lane)
{
    const int n = lane->c->n_states, pivots = equations_right(lane, lane->c->n_total);
    FRAME_EACH
    for (int k = 0; k < n; k++) {
        real best = absolute(frame_get(lane->frame, equations_element(lane, k, k))), at = splat((double)k);
        FRAME_EACH
        for (int i = k + 1; i < n; i++) {
            const real size = absolute(frame_get(lane->frame, equations_element(lane, i, k)));
            const mask better = MASK(size > best);
            best = select_real(better, size, best);
            at = select_real(better, splat((double)i), at);
        }
        frame_set(lane->frame, pivots + k, at);
        FRAME_EACH
        for (int i = k + 1; i < n; i++) {
            const mask swap = MASK(at == (double)i);
            FRAME_EACH
            for (int j = 0; j < n && any_lane(swap); j++)
                equations_swap(lane, equations_element(lane, i, j), equations_element(lane, k, j), swap);
        }
        const real pivot = 1.0 / frame_get(lane->frame, equations_element(lane, k, k));
        FRAME_EACH
        for (int i = k + 1; i < n; i++) {
            const real factor = frame_get(lane->frame, equations_element(lane, i, k)) * pivot;
            frame_set(lane->frame, equations_element(lane, i, k), factor);
            FRAME_EACH
            for (int j = k + 1; j < n; j++) {
                const int to = equations_element(lane, i, j);
                frame_set(
                    lane->frame, to,
                    fused(-factor, frame_get(lane->frame, equations_element(lane, k, j)), frame_get(lane->frame, to)));
            }
        }
    }
}

// The right side <- the solution.
HD_CALL void equations_solve(const EquationsLane *UNALIASED lane)
{
    const int n = lane->c->n_states, pivots = equations_right(lane, lane->c->n_total);
    FRAME_EACH
    for (int k = 0; k < n; k++) {
        const real at = frame_get(lane->frame, pivots + k);
        FRAME_EACH
        for (int i = k + 1; i < n; i++) {
            const mask swap = MASK(at == (double)i);
            if (any_lane(swap)) equations_swap(lane, equations_right(lane, i), equations_right(lane, k), swap);
        }
    }
    FRAME_EACH
    for (int i = 0; i < n; i++) {
        real sum = frame_get(lane->frame, equations_right(lane, i));
        FRAME_EACH
        for (int j = 0; j < i; j++)
            sum = fused(-frame_get(lane->frame, equations_element(lane, i, j)),
                        frame_get(lane->frame, equations_right(lane, j)), sum);
        frame_set(lane->frame, equations_right(lane, i), sum);
    }
    FRAME_EACH
    for (int i = n - 1; i >= 0; i--) {
        real sum = frame_get(lane->frame, equations_right(lane, i));
        FRAME_EACH
        for (int j = i + 1; j < n; j++)
            sum = fused(-frame_get(lane->frame, equations_element(lane, i, j)),
                        frame_get(lane->frame, equations_right(lane, j)), sum);
        frame_set(lane->frame, equations_right(lane, i), sum / frame_get(lane->frame, equations_element(lane, i, i)));
    }
    FRAME_EACH
    for (int i = n; i < lane->c->n_total; i++) {
        real sum = frame_get(lane->frame, equations_right(lane, i));
        FRAME_EACH
        for (int j = 0; j < n; j++)
            sum = fused(-frame_get(lane->frame, equations_element(lane, i, j)),
                        frame_get(lane->frame, equations_right(lane, j)), sum);
        frame_set(lane->frame, equations_right(lane, i), sum / frame_get(lane->frame, equations_element(lane, i, i)));
    }
}

// matrix <- diagonal 1 - factor J, with J of the modes at the arguments. The entries of integrals' columns are 0.
// time_rates: numbers[n_total] <- d rates / d time; -1: not wanted.
HD_CALL void equations_jacobian(const EquationsLane *UNALIASED lane, real diagonal, real factor, int time_rates,
                                mask which)
{
    equations_owns_memory(lane);
    const int n = lane->c->n_states, total = lane->c->n_total;
    const bool same = equations_are_same(lane, EQUATIONS_MODE_JACOBIAN);
    FRAME_EACH
    for (int mode = 0; mode < (same ? 1 : lane->c->n_modes); mode++) {
        const mask in = same ? which : which & equations_in(lane, mode);
        if (!any_lane(in)) continue;
        const EquationsCode code = equations_code(lane, equations_mode_row(lane, mode) + EQUATIONS_MODE_JACOBIAN);
        equations_run(lane, code);
        FRAME_EACH
        for (int i = 0; i < total; i++) {
            FRAME_EACH
            for (int j = 0; j < total; j++) {
                const real entry = j < n ? equations_output(lane, code, i * n + j) : splat(0.0);
                const real value = fused(-factor, entry, i == j ? diagonal : splat(0.0));
                frame_put(lane->frame, equations_element(lane, i, j), value, in);
            }
            if (time_rates >= 0)
                frame_put(lane->frame, time_rates + i, equations_output(lane, code, total * n + i), in);
        }
    }
}

// ---- rodas5p --------------------------------------------------------------------------------------------------------
// Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia Differential
// Equations package, BIT Numerical Mathematics 63 (2023), 27; stages in the variables of Hairer & Wanner, Solving
// Ordinary Differential Equations II (2nd ed.), IV.7: (1/(h gamma) - J) U_i = f(t + c_i h, y + sum a_ij U_j) +
// sum C_ij/h U_j + h d_i f_t.

enum { EQUATIONS_RODAS_STAGES = 8 };
typedef struct EquationsRodas {
    double gamma;
    double a[6][5], C[8][7], c[8], d[8], h[3][8];
} EquationsRodas;

HD const EquationsRodas *equations_rodas(void)
{
    // clang-format off
    TABLE EquationsRodas table = {
        0.21193756319429014,
        {{0.0},
         {3.0},
         {2.849394379747939, 0.45842242204463923},
         {-6.954028509809101, 2.489845061869568, -10.358996098473584},
         {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
         {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946}},
        {{0.0},
         {-14.155112264123755},
         {-17.97296035885952, -2.859693295451294},
         {147.12150275711716, -1.41221402718213, 71.68940251302358},
         {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
         {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
         {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
          -28.087943162872662},
         {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
          -54.66780262877968, -9.48861652309627}},
        {0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0},
        {0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0.0,
         0.0, 0.0},
        {{25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
          1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
         {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
          15.98066361424651, -6.789040303419874, -6.710236069923372},
         {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
          -59.78993625266729, -0.15582684282751913, 4.883087185713722}}};
    // clang-format on
    return &table;
}

HD_CALL EquationsStep equations_rodas5p_step(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    const EquationsRodas *table = equations_rodas();
    const EquationsConstants *c = lane->c;
    const int n = c->n_total, time_rates = equations_right(lane, 2 * n);
    const real one_over = 1.0 / h;
    equations_argue(lane, c->y);
    equations_at(lane, t);
    equations_jacobian(lane, one_over / entry_of(&table->gamma), splat(1.0), time_rates, which);
    equations_decompose(lane);
    FRAME_EACH
    for (int s = 0; s < EQUATIONS_RODAS_STAGES; s++) {
        FRAME_EACH
        for (int i = 0; i < n; i++) { // stages 7 and 8 begin where the one before ends
            real y = frame_get(lane->frame, s < 6 ? c->y + i : c->next + i);
            FRAME_EACH
            for (int j = 0; j < s && s < 6; j++)
                y = fused(splat(entry_of(&table->a[s][j])), frame_get(lane->frame, equations_stage(lane, j) + i), y);
            if (s >= 6) y = y + frame_get(lane->frame, equations_stage(lane, s - 1) + i);
            frame_set(lane->frame, c->next + i, y);
        }
        equations_argue(lane, c->next);
        equations_at(lane, fused(splat(entry_of(&table->c[s])), h, t));
        equations_rates(lane, c->next_f, which);
        FRAME_EACH
        for (int i = 0; i < n; i++) {
            real sum = splat(0.0);
            FRAME_EACH
            for (int j = 0; j < s; j++)
                sum =
                    fused(splat(entry_of(&table->C[s][j])), frame_get(lane->frame, equations_stage(lane, j) + i), sum);
            const real drift = h * entry_of(&table->d[s]) * frame_get(lane->frame, time_rates + i);
            frame_set(lane->frame, equations_right(lane, i),
                      fused(sum, one_over, frame_get(lane->frame, c->next_f + i)) + drift);
        }
        equations_solve(lane);
        FRAME_EACH
        for (int i = 0; i < n; i++)
            frame_set(lane->frame, equations_stage(lane, s) + i, frame_get(lane->frame, equations_right(lane, i)));
    }
    const int last = equations_stage(lane, EQUATIONS_RODAS_STAGES - 1);
    FRAME_EACH
    for (int i = 0; i < n; i++)
        frame_set(lane->frame, c->next + i, frame_get(lane->frame, c->next + i) + frame_get(lane->frame, last + i));
    EquationsStep step = equations_end_step(lane, t, h, which);
    step.error = equations_error(lane, h, last);
    return step;
}

// ---- implicit_midpoint ----------------------------------------------------------------------------------------------

enum { EQUATIONS_NEWTON_STEPS = 12 };
#define EQUATIONS_NEWTON_ROUNDING 1e-9 // a change over |state| + scale

// k = f(t + h/2, y + h/2 k) by Newton's method, from the rates of the step's start.
HD_CALL EquationsStep equations_implicit_midpoint_step(const EquationsLane *UNALIASED lane, real t, real h, mask which)
{
    const EquationsConstants *c = lane->c;
    const real half = 0.5 * h;
    const int k = equations_stage(lane, 0), f = equations_stage(lane, 1);
    mask open = which;
    real last = splat(0.0); // change
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++) frame_set(lane->frame, k + i, frame_get(lane->frame, c->f + i));
    for (int newton = 0; newton < EQUATIONS_NEWTON_STEPS && any_lane(open); newton++) {
        real size = splat(0.0);
        equations_move(lane, k, half);
        equations_at(lane, t + half);
        equations_rates(lane, f, open);
        equations_jacobian(lane, splat(1.0), half, -1, open);
        FRAME_EACH
        for (int i = 0; i < c->n_total; i++)
            frame_set(lane->frame, equations_right(lane, i),
                      frame_get(lane->frame, f + i) - frame_get(lane->frame, k + i));
        equations_decompose(lane);
        equations_solve(lane);
        FRAME_EACH
        for (int i = 0; i < c->n_total; i++) {
            const real change = frame_get(lane->frame, equations_right(lane, i));
            frame_put(lane->frame, k + i, frame_get(lane->frame, k + i) + change, open);
            if (i >= c->n_states) continue;
            const real scale = lane->assets[c->scale + i] + absolute(frame_get(lane->frame, c->y + i));
            size = greater_of(absolute(h * change) / scale, size);
            size = select_real(MASK(change == change), size, splat(1e300));
        }
        last = select_real(open, size, last);
        open = open & MASK(size > 1e-13);
    }
    equations_move(lane, k, h);
    EquationsStep step = equations_end_step(lane, t, h, which);
    // a last change of Newton's method that is not rounding: there is no solution, or dt is too long to find it
    const mask fails = which & MASK(last > EQUATIONS_NEWTON_ROUNDING) & MASK(last < 1e300);
    step.failure = select_real(fails, splat(EQUATIONS_FAIL_solver), splat(0.0));
    return step;
}

// ---- between the ends of a step -------------------------------------------------------------------------------------
// y(theta) = r0 + theta (r1 + (1 - theta) (r2 + theta (r3 + (1 - theta) r4))) (II.6); without r4 it is the cubic of
// Hermite, without r3 too the shorter step of semi_implicit_euler, so that an event is where that step lands. With
// noise it is what the method makes of the curve that the path is expected to take in the step: of euler_maruyama a
// line, of sra3 the cubic of Hermite for what the rates do, and the parabola of the noise.

HD int equations_dense_row(const EquationsLane *lane, int k) { return lane->c->dense + k * lane->c->n_total; }

HD_CALL void equations_dense(const EquationsLane *UNALIASED lane, EquationsMethod method, real h)
{
    equations_owns_memory(lane);
    const EquationsConstants *c = lane->c;
    FRAME_EACH
    for (int i = 0; i < c->n_total; i++) {
        const real y = frame_get(lane->frame, c->y + i), next = frame_get(lane->frame, c->next + i);
        const real f = frame_get(lane->frame, c->f + i), next_f = frame_get(lane->frame, c->next_f + i);
        const real change = next - y;
        real first = fused(h, f, -change), second = change - first - h * next_f, last = splat(0.0);
        if (EQUATIONS_IS(method, dormand_prince))
            last = h * equations_weighted(lane, equations_table()->d, EQUATIONS_STAGES, i);
        if (EQUATIONS_IS(method, semi_implicit_euler)) second = splat(0.0);
        if (EQUATIONS_IS(method, euler_maruyama)) first = second = splat(0.0);
        if (EQUATIONS_IS(method, sra3)) {
            const real drift = change - frame_get(lane->frame, equations_noise_change(lane) + i),
                       rises = fused(h, f, -drift);
            first = rises + frame_get(lane->frame, equations_noise_bend(lane) + i);
            second = drift - rises - h * next_f;
        }
        if (EQUATIONS_IS(method, rodas5p)) { // k1 + theta (k2 + theta k3), k = h U
            const EquationsRodas *table = equations_rodas();
            const real k3 = equations_weighted(lane, table->h[2], EQUATIONS_RODAS_STAGES, i);
            first = equations_weighted(lane, table->h[0], EQUATIONS_RODAS_STAGES, i);
            second = equations_weighted(lane, table->h[1], EQUATIONS_RODAS_STAGES, i) + k3;
            last = -k3;
        }
        frame_set(lane->frame, equations_dense_row(lane, 0) + i, y);
        frame_set(lane->frame, equations_dense_row(lane, 1) + i, change);
        frame_set(lane->frame, equations_dense_row(lane, 2) + i, first);
        frame_set(lane->frame, equations_dense_row(lane, 3) + i, second);
        frame_set(lane->frame, equations_dense_row(lane, 4) + i, last);
    }
}

HD real equations_between(const EquationsLane *lane, int i, real theta)
{
    const real back = 1.0 - theta;
    real y = fused(back, frame_get(lane->frame, equations_dense_row(lane, 4) + i),
                   frame_get(lane->frame, equations_dense_row(lane, 3) + i));
    y = fused(theta, y, frame_get(lane->frame, equations_dense_row(lane, 2) + i));
    y = fused(back, y, frame_get(lane->frame, equations_dense_row(lane, 1) + i));
    return fused(theta, y, frame_get(lane->frame, equations_dense_row(lane, 0) + i));
}

// The state at theta of the step from t as arguments.
HD void equations_argue_between(const EquationsLane *lane, real t, real h, real theta)
{
    FRAME_LOADS
    for (int i = 0; i < lane->c->n_states; i++) frame_set(lane->file, 1 + i, equations_between(lane, i, theta));
    equations_at(lane, fused(theta, h, t));
}

#endif
