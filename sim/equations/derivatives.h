// What a system's derivatives are computed by: codes for the expressions of its modes, backwards for the adjoint
// (`pull`) and forwards for the tangent (`push`). They have registers of their own: the inputs of the system stand
// where its kernels have them (system.h), those of weights and of rates of change follow.
#ifndef HOPSCOTCH_EQUATIONS_DERIVATIVES_H
#define HOPSCOTCH_EQUATIONS_DERIVATIVES_H

#include "equations.h"
#include "switches.h"

// Steps of a code in the assets, and its outputs there: pairs of what an output is and its register. What has no pair
// is 0.
typedef struct DerivativeCode {
    int32_t first, count, outputs, n_outputs;
} DerivativeCode;

// Of an action that sets something. pull: by input, of the sum of weights and new values; push: how these change.
typedef struct DerivativeAction {
    const bool *sets; // [n_states + n_held]; NULL: the action sets nothing
    DerivativeCode pull, push;
} DerivativeAction;

// Of a mode. An output of `pull` is by the input of its number: time, states, held numbers, parameters.
typedef struct DerivativeMode {
    DerivativeCode rates;                  // [n_total]
    DerivativeCode rates_pull, rates_push; // of the sum of weights and rates; [n_total]
    DerivativeCode jacobian;               // [n_total][n_states]; methods that need none have none
    DerivativeCode noise;                  // [n_states] sizes; without noise there is none
    DerivativeCode noise_pull, noise_push; // of the sum of weights and sizes; [n_states]
    DerivativeCode bend_pull;              // of the sum of weights and rates_push; rodas5p alone
    DerivativeCode bend_push;              // how rates_push changes; the same
    const DerivativeCode *guard;           // [n_guards] one output
    const DerivativeCode *guard_pull;      // [n_guards]
    const DerivativeCode *guard_push;      // [n_guards] one output
    const bool *watches;                   // [n_metrics] the metric has an expression here
    const DerivativeCode *watched;         // [n_metrics] one output
    const DerivativeCode *watched_pull, *watched_push;
    const DerivativeAction *actions; // [n_actions]
} DerivativeMode;

typedef struct EquationsDerivatives {
    const char *refusal; // why there are none; NULL: there are
    const bool *jumps;   // [n_integrals] what is integrated may jump with a state, where derivatives do not see it
    const char *jumping; // a state whose rate may; NULL: there is none
    EquationsMethod method;
    int n_inputs, n_rows; // inputs that have derivatives; sides of guards and rows of switches behind them
    int weight, rate;     // registers: of weights; of the rates of inputs, and for bend_push of those again
    int n_weights;        // at most
    int second;           // register of the second rates
    int registers, first_number, n_numbers, n_derived;
    const double *assets; // [n_assets]
    int64_t n_assets;
    int32_t numbers, derived, tables;
    DerivativeCode start_pull, start_push;                       // of the states and held numbers at the start
    const DerivativeMode *modes;                                 // [n_modes]
    const DerivativeCode *instant, *instant_pull, *instant_push; // [n_instants] of `at`
    const DerivativeCode *switch_pull, *switch_push;             // [n_switches] of the instant at which its row began
} EquationsDerivatives;

// Makes the derivatives of a system with switches (switches.h), whose values are on its tape. Changes nothing that was
// made of the tape before. method: the integrator.
EquationsDerivatives *equations_derivatives_make(const System *system, const SystemSwitch *switches, int n_switches,
                                                 EquationsMethod method, Arena *arena);

// Derivatives for another memory, a GPU's: block[bytes] <- what is to stand there from address `at` on, which is that
// of the derivatives. Returns `bytes`; block NULL: no more than that. constants, assets: of the system's kernels.
size_t equations_derivatives_copy(const EquationsDerivatives *derivatives, const EquationsConstants *constants,
                                  const double *assets, const void *at, void *block);

#endif
