// Texts of copies: a number in the place of each mark, and what runs over copies written out.
//
//     #              the copy's own number; in a name a part of it
//     {#+1}          a neighbour's; in a name of copies that form a ring it goes round
//     #j, {#j+1}     those of the copies that sum(#j, ...), mean, min or max runs over
//
// A text knows where its characters were written, so that errors are shown there.
#include "copies.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// TERMS: of one sum. WRITTEN: characters of an expression whose sums are written out.
enum { NUMBERED_TERMS_MAX = 4096, NUMBERED_WRITTEN_MAX = EXPRESSION_WRITTEN_LENGTH };

// ---- marks ----------------------------------------------------------------------------------------------------------

// Digits behind a sign, at most `most`; 0: there are none.
static int mark_offset(const char *at, int most, int64_t *offset)
{
    int n = 1;
    if (*at != '+' && *at != '-') return 0;
    for (*offset = 0; n <= most && isdigit((unsigned char)at[n]); n++) *offset = 10 * *offset + at[n] - '0';
    if (*at == '-') *offset = -*offset;
    return n > 1 ? n : 0;
}

static int mark_blanks(const char *at) { return (int)strspn(at, " "); }

// {#+1}, { #j - 1 }; length -1: it is none, as {6-#}; 0: nothing of a copy stands in braces here
static CopyMark mark_in_braces(const char *at)
{
    if (at[1 + strcspn(at + 1, "#{}")] != '#') return (CopyMark){.length = 0};
    const char *sign = at + 1 + mark_blanks(at + 1);
    if (*sign != '#') return (CopyMark){.length = -1};
    CopyMark mark = {.index = sign + 1, .word = expression_word_length(sign + 1), .length = -1};
    const char *end = mark.index + mark.word;
    end += mark_blanks(end);
    if (*end == '+' || *end == '-') {
        char offset[8] = {*end, '\0'};
        const char *digits = end + 1 + mark_blanks(end + 1);
        for (int i = 0; i < 4 && isdigit((unsigned char)digits[i]); i++) offset[i + 1] = digits[i];
        const int length = mark_offset(offset, 4, &mark.offset);
        if (length == 0) return mark;
        end = digits + length - 1;
        end += mark_blanks(end);
    }
    if (*end == '}') mark.length = (int)(end + 1 - at);
    return mark;
}

CopyMark copy_mark(const char *at, bool names)
{
    CopyMark mark = {.length = 0};
    if (at[0] == '{') return mark_in_braces(at);
    if (at[0] != '#') return mark;
    mark = (CopyMark){.length = 1, .index = at + 1, .word = expression_word_length(at + 1)};
    if (names) mark.length += mark_offset(at + 1, 1, &mark.offset);
    return mark;
}

// ---- the text that is written ---------------------------------------------------------------------------------------

typedef struct NumberedText {
    Copies *copies;
    const Node *node;
    char *text;  // [used], room for `room`
    int *places; // [used] of its characters in the node's text
    int used, room;
    bool wrong; // an error was reported
} NumberedText;

static void numbered_wrong(NumberedText *out, int at, int width, const char *message)
{
    if (!out->wrong) expression_diagnose(out->copies->reader->diagnostics, out->node, at, width, "%s", message);
    out->wrong = true;
}

static void numbered_grow(NumberedText *out, int room)
{
    Arena *arena = out->copies->reader->arena;
    char *text = ARENA_NEW(arena, char, room);
    int *places = ARENA_NEW(arena, int, room);
    if (out->used > 0) {
        memcpy(text, out->text, (size_t)out->used);
        memcpy(places, out->places, (size_t)out->used * sizeof *places);
    }
    out->text = text;
    out->places = places;
    out->room = room;
}

// place: where in the node's text it stands.
static void numbered_put(NumberedText *out, const char *text, int length, int place)
{
    if (out->wrong) return;
    if (out->used + length > NUMBERED_WRITTEN_MAX) {
        numbered_wrong(out, place, 1,
                       arena_format(out->copies->reader->arena,
                                    "with a term for each copy, this is longer than %d characters: declare shorthands "
                                    "of its parts",
                                    NUMBERED_WRITTEN_MAX));
        return;
    }
    if (out->used + length > out->room) numbered_grow(out, 2 * (out->used + length) + 64);
    memcpy(out->text + out->used, text, (size_t)length);
    for (int i = 0; i < length; i++) out->places[out->used + i] = place;
    out->used += length;
}

static void numbered_put_number(NumberedText *out, int64_t number, int place)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%lld", (long long)number);
    numbered_put(out, text, length, place);
}

// ---- names ----------------------------------------------------------------------------------------------------------

enum { NUMBERED_NAME_MAX = 128 };

// A name with marks, or a mark alone.
typedef struct NumberedWord {
    int length, marks;            // length 0: no word stands here
    char name[NUMBERED_NAME_MAX]; // with # for each mark
    const CopyNumber *of;         // of its first mark; NULL: it stands for no number here
    CopyMark first;
    int wrong;       // place of a mark that can't be read or stands for no number; -1: there is none
    bool alone, own; // own: a mark is the copy's own number
    bool within;     // a sum
} NumberedWord;

static const CopyNumber *numbered_index(const CopyNumber *numbers, const char *index, int length)
{
    while (numbers != NULL && (numbers->length != length || strncmp(numbers->index, index, (size_t)length) != 0))
        numbers = numbers->outer;
    return numbers;
}

// What a mark stands for: #j for the number of j if there is such a one, else # before the rest of a name.
static const CopyNumber *numbered_of(const CopyNumber *numbers, CopyMark *mark)
{
    const CopyNumber *of = mark->word > 0 ? numbered_index(numbers, mark->index, mark->word) : NULL;
    const bool braces = mark->length > 1;
    if (of != NULL && !braces) mark->length += mark->word;
    if (of != NULL || (braces && mark->word > 0)) return of;
    mark->word = 0;
    return numbered_index(numbers, "", 0);
}

static NumberedWord numbered_word(const char *text, int end, const CopyNumber *numbers)
{
    NumberedWord word = {.wrong = -1, .within = numbers != NULL && numbers->length > 0};
    int used = 0;
    for (int at = 0; at < end && used < NUMBERED_NAME_MAX - 1;) {
        CopyMark mark = copy_mark(text + at, false);
        const bool letter = expression_letter(text[at]) || (at > 0 && isdigit((unsigned char)text[at]));
        if (mark.length == 0 && !letter) break;
        if (mark.length != 0) {
            const CopyNumber *of = mark.length > 0 ? numbered_of(numbers, &mark) : NULL;
            if (of == NULL && word.wrong < 0) word.wrong = at;
            word.own |= of != NULL && of->length == 0;
            if (word.marks++ == 0) {
                word.of = of;
                word.first = mark;
            }
        }
        word.name[used++] = mark.length != 0 ? '#' : text[at];
        at += mark.length > 0 ? mark.length : mark.length < 0 ? 2 : 1;
        word.length = at;
    }
    word.alone = word.marks == 1 && used == 1;
    return word;
}

const CopyFamily *copy_family(const Copies *copies, const char *name)
{
    int low = 0, high = copies->n_families - 1;
    while (low <= high) {
        const int middle = (low + high) / 2, order = strcmp(copies->families[middle].name, name);
        if (order == 0) return &copies->families[middle];
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle - 1;
    }
    return NULL;
}

bool copy_is_plain(const Copies *copies, const char *name)
{
    int low = 0, high = copies->n_plain - 1;
    while (low <= high) {
        const int middle = (low + high) / 2, order = strcmp(copies->plain[middle], name);
        if (order == 0) return true;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle - 1;
    }
    return false;
}

static const char *numbered_shown(const char *index, int length, Arena *arena)
{
    return arena_format(arena, "%.*s", length < 20 ? length : 20, index);
}

// A mark that stands for no number here.
static void numbered_report_mark(NumberedText *out, int place, const NumberedWord *word)
{
    Arena *arena = out->copies->reader->arena;
    const char *text = out->node->text + place + word->wrong;
    CopyMark mark = copy_mark(text, false);
    const int at = place + word->wrong;
    if (mark.length < 0)
        numbered_wrong(out, at, (int)strcspn(text, "}") + (strchr(text, '}') != NULL),
                       "this is not a number of a copy: write {#+1} or {#-1}, of a sum {#j+1}");
    else if (mark.word > 0 && (mark.length > 1 || word->wrong == 0))
        numbered_wrong(out, at, mark.length > 1 ? mark.length : 1 + mark.word,
                       arena_format(arena, "#%s stands for no number here: sum(#%s, ...) runs over it",
                                    numbered_shown(mark.index, mark.word, arena),
                                    numbered_shown(mark.index, mark.word, arena)));
    else if (word->within)
        numbered_wrong(out, at, mark.length,
                       "# is the number of a copy, and this is not repeated; that of a sum stands in braces before "
                       "more of a name: x{#j}_y");
    else
        numbered_wrong(out, at, mark.length,
                       "# is the number of a copy, and this is not repeated: put # into its name, or run over all "
                       "copies, as in sum(#j, x#j)");
}

// The number that a name has; of a ring it goes round.
static int64_t numbered_round(const CopyFamily *family, int64_t number)
{
    const int64_t count = family->last - family->first + 1, apart = number - family->first;
    return family->ring ? family->first + (apart % count + count) % count : number;
}

static void numbered_check_ends(NumberedText *out, const NumberedWord *word, const CopyFamily *family, int place,
                                int from)
{
    Arena *arena = out->copies->reader->arena;
    const char *name = arena_format(arena, "%.*s", out->used - from, out->text + from);
    const int64_t number = word->of->number + word->first.offset;
    if ((number >= family->first && number <= family->last) || copy_is_plain(out->copies, name)) return;
    numbered_wrong(
        out, place, word->length,
        arena_format(arena,
                     "there is no %.40s: the copies of %.40s have the numbers %lld to %lld%s; declare it, as "
                     "in let: {%.40s: 0}, or write ring: true beside repeat",
                     name, family->name, (long long)family->first, (long long)family->last,
                     word->of->length > 0 ? copy_number_text(word->of, arena) : "", name));
}

static void numbered_put_name(NumberedText *out, const NumberedWord *word, int place, const CopyNumber *numbers)
{
    const CopyFamily *family = word->marks == 1 ? copy_family(out->copies, word->name) : NULL;
    const char *text = out->node->text + place;
    const int from = out->used;
    for (int at = 0; at < word->length && !out->wrong;) {
        CopyMark mark = copy_mark(text + at, false);
        if (mark.length == 0) {
            numbered_put(out, text + at++, 1, place);
            continue;
        }
        int64_t number = numbered_of(numbers, &mark)->number + mark.offset;
        if (family != NULL) number = numbered_round(family, number);
        at += mark.length;
        if (number < 0)
            numbered_wrong(out, place, word->length,
                           arena_format(out->copies->reader->arena,
                                        "there is no copy with the number %lld: numbers begin at 0; let copies begin "
                                        "higher, as in repeat: [3, 20]",
                                        (long long)number));
        numbered_put_number(out, number, place);
    }
    if (family != NULL && !family->ring && !out->wrong) numbered_check_ends(out, word, family, place, from);
}

static void numbered_put_word(NumberedText *out, const NumberedWord *word, int place, const CopyNumber *numbers)
{
    if (word->wrong >= 0) {
        numbered_report_mark(out, place, word);
    } else if (word->alone) {
        const int64_t number = word->of->number + word->first.offset;
        numbered_put(out, "(", number < 0, place);
        numbered_put_number(out, number, place);
        numbered_put(out, ")", number < 0, place);
    } else if (word->name[0] == '#') {
        numbered_wrong(out, place, word->length,
                       "a name can't begin with a number; a product needs a sign, #*x, and #j belongs to sum(#j, ...)");
    } else {
        numbered_put_name(out, word, place, numbers);
    }
}

// ---- what runs over copies ------------------------------------------------------------------------------------------

// sum(#j, EXPR) or sum(#j, FIRST, LAST, EXPR)
typedef struct NumberedCall {
    const char *name;     // NULL: there is no such call
    CopyNumber index;     // its number changes
    int part[5], n_parts; // where the parts behind the first comma begin, then where one behind the last would
    int end;              // behind the parenthesis
    bool open;            // that is never closed
    bool again;           // its index stands for a number already
} NumberedCall;

static const char *const numbered_calls[] = {"sum", "mean", "min", "max"};

// The parts of a call, the first of which begins at `at`.
static void numbered_find_parts(const char *text, int at, int end, NumberedCall *call)
{
    int depth = 1;
    for (call->part[0] = at; at < end && depth > 0; at++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth > 1 || (depth == 1 && text[at] != ',')) continue;
        if (++call->n_parts < 5) call->part[call->n_parts] = at + 1;
    }
    call->end = at;
    call->open = depth > 0;
}

// The call at `at`. That of an index which stands for a number already is one of sum and mean alone: max(#j, 3) is the
// greater of two.
static NumberedCall numbered_call(const char *text, int at, int end, const CopyNumber *numbers)
{
    const int length = expression_letter(text[at]) ? expression_word_length(text + at) : 0;
    NumberedCall call = {.name = NULL}, none = call;
    for (size_t i = 0; i < sizeof numbered_calls / sizeof *numbered_calls && length > 0; i++)
        if (strncmp(numbered_calls[i], text + at, (size_t)length) == 0 && numbered_calls[i][length] == '\0')
            call.name = numbered_calls[i];
    at += length + mark_blanks(text + at + length);
    if (call.name == NULL || text[at] != '(') return none;
    at += 1 + mark_blanks(text + at + 1);
    if (text[at] != '#') return none;
    call.index =
        (CopyNumber){.index = text + at + 1, .length = expression_word_length(text + at + 1), .outer = numbers};
    at += 1 + call.index.length;
    at += mark_blanks(text + at);
    if (call.index.length == 0 || text[at] != ',' || at >= end) return none;
    call.again = numbered_index(numbers, call.index.index, call.index.length) != NULL;
    if (call.again && (strcmp(call.name, "min") == 0 || strcmp(call.name, "max") == 0)) return none;
    numbered_find_parts(text, at + 1, end, &call);
    return call;
}

static void numbered_span(NumberedText *out, int at, int end, const CopyNumber *numbers);

// FIRST or LAST.
static int64_t numbered_bound(NumberedText *out, int at, int end, const CopyNumber *numbers)
{
    const Scope none = {0};
    Arena *arena = out->copies->reader->arena;
    const int used = out->used;
    numbered_span(out, at, end, numbers);
    if (out->wrong) return 0;
    Node text = *out->node;
    text.text = arena_format(arena, "%.*s", out->used - used, out->text + used);
    text.copy = NULL;
    out->used = used;
    const Expression *expression = expression_parse(&text, &none, arena, diagnostics_new(arena));
    const double number = expression != NULL ? expression_value(expression, NULL) : NAN;
    if (number == floor(number) && fabs(number) <= NUMBERED_TERMS_MAX) return (int64_t)number;
    at += mark_blanks(out->node->text + at);
    numbered_wrong(out, at, end - at, "a whole number is due here: sum(#j, FIRST, LAST, EXPR)");
    return 0;
}

// The copies that a body names by the index: all names must have the same.
static void numbered_range(NumberedText *out, const NumberedCall *call, int place, int64_t *first, int64_t *last)
{
    const CopyFamily *found = NULL;
    Arena *arena = out->copies->reader->arena;
    const int end = call->part[1] - 1;
    for (int at = call->part[0]; at < end && !out->wrong;) {
        const NumberedWord word = numbered_word(out->node->text + at, end - at, &call->index);
        const bool runs = word.marks == 1 && word.of == &call->index && !word.alone;
        const CopyFamily *family = runs ? copy_family(out->copies, word.name) : NULL;
        if (family != NULL && found != NULL && (family->first != found->first || family->last != found->last))
            numbered_wrong(out, at, word.length,
                           arena_format(arena,
                                        "%.40s has the numbers %lld to %lld, and %.40s %lld to %lld: write %s(#%s, "
                                        "FIRST, LAST, EXPR)",
                                        found->name, (long long)found->first, (long long)found->last, family->name,
                                        (long long)family->first, (long long)family->last, call->name,
                                        numbered_shown(call->index.index, call->index.length, arena)));
        if (family != NULL) found = family;
        at += word.length > 0 ? word.length : 1;
    }
    if (found != NULL) {
        *first = found->first;
        *last = found->last;
        return;
    }
    const char *index = numbered_shown(call->index.index, call->index.length, arena);
    numbered_wrong(out, place, (int)strlen(call->name),
                   arena_format(arena,
                                "over which copies? Name those of #%s, as in x#%s, or write %s(#%s, FIRST, LAST, "
                                "EXPR)",
                                index, index, call->name, index));
}

static void numbered_check_call(NumberedText *out, const NumberedCall *call, int place)
{
    Arena *arena = out->copies->reader->arena;
    const char *index = numbered_shown(call->index.index, call->index.length, arena);
    const int width = (int)strlen(call->name);
    if (call->again)
        numbered_wrong(out, place, width,
                       arena_format(arena,
                                    "#%s is the number of what stands around this: take another, as in %s(#%s2, ...)",
                                    index, call->name, index));
    else if (call->open)
        numbered_wrong(out, place, width, "the parenthesis behind this is never closed");
    else if (call->n_parts != 1 && call->n_parts != 3)
        numbered_wrong(out, place, width,
                       arena_format(arena, "write %s(#%s, EXPR) or %s(#%s, FIRST, LAST, EXPR)", call->name, index,
                                    call->name, index));
}

// Terms from the first to the last, in parentheses: ((x1) + (x2)), max((x1), (x2)).
static void numbered_put_call(NumberedText *out, NumberedCall *call, int place)
{
    int64_t first = 1, last = 0;
    const bool folds = call->name[1] != 'u' && strcmp(call->name, "mean") != 0; // min and max
    const int n = call->n_parts;
    numbered_check_call(out, call, place);
    out->wrong |= !copies_count(out->copies, out->node, call->end - place); // also of terms that are none
    if (out->wrong) return;
    if (n == 3) {
        first = numbered_bound(out, call->part[0], call->part[1] - 1, call->index.outer);
        last = numbered_bound(out, call->part[1], call->part[2] - 1, call->index.outer);
    } else {
        numbered_range(out, call, place, &first, &last);
    }
    if (last < first && strcmp(call->name, "sum") != 0)
        numbered_wrong(out, place, (int)strlen(call->name),
                       arena_format(out->copies->reader->arena, "%s runs over no copies", call->name));
    const bool named = folds && last > first;
    if (named) numbered_put(out, call->name, (int)strlen(call->name), place);
    numbered_put(out, "((", folds ? 1 : 2, place);
    if (last < first) numbered_put(out, "0", 1, place);
    for (int64_t number = first; number <= last && !out->wrong; number++) {
        call->index.number = number;
        if (number > first) numbered_put(out, named ? ", " : " + ", named ? 2 : 3, place);
        numbered_put(out, "(", 1, place);
        numbered_span(out, call->part[n - 1], call->part[n] - 1, &call->index);
        numbered_put(out, ")", 1, place);
    }
    numbered_put(out, ")", 1, place);
    if (strcmp(call->name, "mean") == 0) {
        numbered_put(out, "/", 1, place);
        numbered_put_number(out, last - first + 1, place);
    }
    if (!folds) numbered_put(out, ")", 1, place);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// A number outside of names; it must not touch a mark: 2# would be 23.
static int numbered_digits(NumberedText *out, int at, int end)
{
    const char *text = out->node->text + at;
    int length = (int)strspn(text, "0123456789.");
    if (length > 0) length += expression_word_length(text + length);
    if (length > end - at) length = end - at;
    if (length > 0 && copy_mark(text + length, false).length != 0 && length < end - at)
        numbered_wrong(out, at, length + 1, "a product needs a sign: 2*#");
    return length;
}

static void numbered_span(NumberedText *out, int at, int end, const CopyNumber *numbers)
{
    while (at < end && !out->wrong) {
        const char *text = out->node->text + at;
        const int digits = numbered_digits(out, at, end);
        for (int i = 0; i < digits; i++) numbered_put(out, text + i, 1, at + i);
        at += digits;
        if (digits > 0) continue;
        NumberedCall call = numbered_call(out->node->text, at, end, numbers);
        if (call.name != NULL) {
            numbered_put_call(out, &call, at);
            at = call.end;
            continue;
        }
        const NumberedWord word = numbered_word(text, end - at, numbers);
        if (word.marks > 0)
            numbered_put_word(out, &word, at, numbers);
        else
            for (int i = 0; i < (word.length > 0 ? word.length : 1); i++) numbered_put(out, text + i, 1, at + i);
        at += word.length > 0 ? word.length : 1;
    }
}

const char *copy_number_text(const CopyNumber *number, Arena *arena)
{
    if (number == NULL) return "";
    return arena_format(arena, " (#%.*s = %lld)", number->length, number->index, (long long)number->number);
}

bool copy_has_own_mark(const char *text)
{
    enum { INDICES = 16 };
    const int end = (int)strlen(text);
    CopyNumber numbers[INDICES] = {{.index = ""}};
    int n = 1;
    for (int at = 0; strchr(text + at, '#') != NULL;) {
        const NumberedCall call = numbered_call(text, at, end, &numbers[n - 1]);
        if (call.name != NULL && n < INDICES) { // the index stands for a number in the rest of the text
            numbers[n] = call.index;
            numbers[n].outer = &numbers[n - 1];
            n++;
        }
        const NumberedWord word = numbered_word(text + at, end - at, &numbers[n - 1]);
        if (word.marks > 0 && word.own) return true;
        at += word.length > 0 ? word.length : 1;
    }
    return false;
}

const char *copy_name(Arena *arena, const char *text, int64_t number)
{
    const char *name = "";
    for (const char *at = text; *at != '\0';) {
        const CopyMark mark = copy_mark(at, true);
        if (mark.length > 0)
            name = arena_format(arena, "%s%lld", name, (long long)(number + mark.offset));
        else
            name = arena_format(arena, "%s%c", name, *at);
        at += mark.length > 0 ? mark.length : 1;
    }
    return name;
}

const Node *copy_numbered(Copies *copies, const Node *node, const CopyNumber *numbers)
{
    Arena *arena = copies->reader->arena;
    NodeCopy *copy = ARENA_NEW(arena, NodeCopy, 1);
    *copy = (NodeCopy){.number = numbers != NULL ? copy_number_text(numbers, arena) : NULL};
    Node *numbered = ARENA_NEW(arena, Node, 1);
    *numbered = *node;
    numbered->copy = copy;
    if (strchr(node->text, '#') == NULL) return copies_count(copies, node, 0) ? numbered : NULL;
    const Node written = *numbered;
    NumberedText out = {.copies = copies, .node = &written};
    const int length = (int)strlen(node->text);
    numbered_grow(&out, length + 32);
    numbered_span(&out, 0, length, numbers);
    numbered_put(&out, "", 1, length);
    if (out.wrong || !copies_count(copies, node, out.used)) return NULL;
    copy->written = node->text;
    copy->places = out.places;
    numbered->text = out.text;
    return numbered;
}
