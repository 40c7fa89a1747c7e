// The resolved spec's lines, which we wrote (resolve.c): a section starts at the margin, its keys two columns in.
#include "../experiment.h"

#include <string.h>

static bool rest_line_is(const char *line, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && line[length] == ':';
}

static bool rest_is_without(const SpecRest *rest, const char *line)
{
    for (int i = 0; i < SPEC_REST_MOST && rest->without[i] != NULL; i++) {
        if (rest_line_is(line, rest->without[i])) return true;
    }
    return false;
}

// "  k_fp: 150 # N m/rad"
static bool rest_drops_line(const Spec *spec, SpecDrops *drops, const void *given, const char *line)
{
    for (int p = 0; p < configured_named(&spec->configured); p++) {
        if (rest_line_is(line + 2, spec->configured.parameters[p].name)) return drops(given, p);
    }
    return false;
}

void spec_put_rest(const Spec *spec, const SpecRest *rest, SpecDrops *drops, const void *given, Arena *arena, FILE *out)
{
    char *left = arena_copy(arena, spec->resolved);
    const char *section = "", *pending = NULL; // pending: the header of a section of which nothing is copied yet
    bool without = true;
    for (const char *line; (line = strsep(&left, "\n")) != NULL && left != NULL;) {
        if (line[0] != ' ') {
            section = line;
            without = line[0] == '#' || line[0] == '\0' || rest_is_without(rest, line);
            pending = !without && line[strlen(line) - 1] == ':' ? line : NULL;
            if (!without && pending == NULL) fprintf(out, "%s\n", line);
            continue;
        }
        const bool inputs = rest_line_is(section, "parameters") || rest_line_is(section, "initial");
        const bool key = strncmp(line, "  ", 2) == 0 && line[2] != ' ' && line[2] != '-';
        if (without || (inputs && key && rest_drops_line(spec, drops, given, line))) continue;
        if (pending != NULL) fprintf(out, "%s\n", pending);
        pending = NULL;
        if (rest->failed != NULL && key && rest_line_is(section, "objective") && rest_line_is(line + 2, "failed"))
            fprintf(out, "  failed: %s\n", rest->failed);
        else
            fprintf(out, "%s\n", line);
    }
}
