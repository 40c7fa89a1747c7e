// Ctrl-C and SIGTERM. The first signal is noted and the run ends at the next slice, with everything complete committed;
// the second ends the process at once, which the commit rule allows at any moment.
#include "runner.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

// A signal handler has nowhere else to leave its word. Lock-free, so that it may be used there.
static atomic_int interrupt_signal;

static void interrupt_handle(int signal_number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&interrupt_signal, &none, signal_number)) _exit(128 + signal_number);
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = interrupt_handle, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupt_requested(void) { return atomic_load(&interrupt_signal); }
