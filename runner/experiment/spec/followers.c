// Parameters that come with a word, such as the strides of a gait. In a spec that names the word's parameter, as an
// axis or with a value, each of them that the spec does not give is derived from the word: so tables hold the value
// with which a trial ran, and the resolved spec says where it comes from.
#include "axes.h"

#include <string.h>

// Where the spec names a parameter: as an axis, or with a value; NULL: nowhere.
static const Node *followers_named(SpecReader *reader, const AxesBuild *build, int parameter)
{
    const GivenKey *given = given_find(reader, reader->parameter_keys[parameter]->path);
    return build->taken[parameter] != NULL ? build->taken[parameter] : given != NULL ? given->key : NULL;
}

// "gait = 'trot' or gait = 'pace'": the words from `first` on with its value
static const char *followers_condition(const Follower *follower, const char *name, const char *const *words, int count,
                                       int first, Arena *arena)
{
    const char *text = "";
    for (int w = first; w < count; w++) {
        if (follower->values[w] != follower->values[first]) continue;
        text = arena_format(arena, "%s%s%s = '%s'", text, w > first ? " or " : "", name, words[w]);
    }
    return text;
}

// if(CONDITION, VALUE, if(...)), of all words: other values of the axis leave it as it is.
static const char *followers_expression(const Follower *follower, const char *name, const char *choices, Arena *arena)
{
    const char **words = words_list(choices, arena), *text = NULL;
    const int count = words_count(choices);
    for (int w = count - 1; w >= 0; w--) { // from the innermost
        bool before = false;
        for (int k = 0; k < w; k++) before |= follower->values[k] == follower->values[w];
        if (before) continue;
        const char *value = text_number(follower->values[w]).text;
        const char *condition = followers_condition(follower, name, words, count, w, arena);
        text = text == NULL ? arena_copy(arena, value) : arena_format(arena, "if(%s, %s, %s)", condition, value, text);
    }
    return text;
}

// Before what the spec derives, which may use them.
static void followers_put_first(AxesBuild *build, const Axis *axes, const Node *const *expressions, int count)
{
    memmove(build->derived + count, build->derived, (size_t)build->n_derived * sizeof *build->derived);
    memmove(build->expressions + count, build->expressions, (size_t)build->n_derived * sizeof *build->expressions);
    memcpy(build->derived, axes, (size_t)count * sizeof *axes);
    memcpy(build->expressions, expressions, (size_t)count * sizeof *expressions);
    build->n_derived += count;
}

void followers_derive(SpecReader *reader, AxesBuild *build)
{
    const Configured *configured = &reader->spec->configured;
    Axis *axes = ARENA_NEW(reader->arena, Axis, configured->n_followers + 1);
    const Node **expressions = ARENA_NEW(reader->arena, const Node *, configured->n_followers + 1);
    int count = 0;
    for (int f = 0; f < configured->n_followers; f++) {
        const Follower *follower = &configured->followers[f];
        const Node *at = followers_named(reader, build, follower->word);
        if (at == NULL || followers_named(reader, build, follower->parameter) != NULL) continue;
        Node *expression = ARENA_NEW(reader->arena, Node, 1);
        *expression = *at;
        expression->text = followers_expression(follower, reader->names[follower->word],
                                                configured_choices(configured, follower->word), reader->arena);
        build->taken[follower->parameter] = at;
        axes[count] = (Axis){.parameter = follower->parameter, .zip = -1};
        expressions[count++] = expression;
    }
    if (count > 0) followers_put_first(build, axes, expressions, count);
}

void followers_check_partial(SpecReader *reader, const AxesBuild *build)
{
    const Configured *configured = &reader->spec->configured;
    for (int f = 0; f < configured->n_followers; f++) {
        const int parameter = configured->followers[f].parameter;
        const char *name = reader->names[parameter];
        const bool fixed = given_find(reader, reader->parameter_keys[parameter]->path) != NULL;
        for (int a = 0; a < build->n_axes; a++) {
            if (build->axes[a].parameter != parameter || !build->axes[a].partial || fixed) continue;
            diagnose(reader->diagnostics, build->taken[parameter],
                     "%s is searched in some trials only, and in the others it would not be that of their %s: give "
                     "its value there, `parameters: {%s: ...}`",
                     name, reader->names[configured->followers[f].word], name);
        }
    }
}
