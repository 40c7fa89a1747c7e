// Attributes of robot files: numbers, words, and which of them an element may have.
#include "../text.h"
#include "robot_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOT_NUMBER_TEXT = 64, ROBOT_WORDS_MAX = 64 };

void robot_error(RobotFile *file, const XmlNode *node, const char *attribute, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const XmlAttribute *at = attribute != NULL ? xml_attribute(node, attribute) : NULL;
    if (at != NULL)
        diagnose_at(file->diagnostics, node->source, at->line, at->column, at->width, "%s", text);
    else
        diagnose_at(file->diagnostics, node->source, node->line, node->column, node->width, "%s", text);
}

bool robot_failed(const RobotFile *file) { return diagnostics_errors(file->diagnostics) > file->errors; }

bool robot_is_sound(const RobotFile *file)
{
    return diagnostics_errors(file->diagnostics) <= file->errors + file->unread;
}

const char *robot_text_of(const XmlNode *node, const char *name)
{
    const XmlAttribute *given = xml_attribute(node, name);
    return given != NULL && given->value[0] != '\0' ? given->value : NULL;
}

const char *robot_label(const RobotFile *file, const XmlNode *node)
{
    const char *name = robot_text_of(node, "name");
    return name != NULL ? arena_format(file->arena, "%s '%.128s'", node->name, name) : node->name;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

static const char robot_blanks[] = " \t\r\n";

// A finite decimal number at `text`, of `length` characters.
static bool robot_read_number(const char *text, size_t length, double *value)
{
    char copy[ROBOT_NUMBER_TEXT], *end;
    if (length == 0 || length >= sizeof copy || strspn(text, "+-.0123456789eE") < length) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    const double number = strtod(copy, &end);
    if (*end != '\0' || !isfinite(number)) return false;
    *value = number;
    return true;
}

bool robot_number_of(const char *text, double *value)
{
    text += strspn(text, robot_blanks);
    const size_t length = strcspn(text, robot_blanks);
    return text[length + strspn(text + length, robot_blanks)] == '\0' && robot_read_number(text, length, value);
}

int robot_numbers(RobotFile *file, const XmlNode *node, const char *name, int least, int most, double *value)
{
    const XmlAttribute *given = xml_attribute(node, name);
    int count = 0;
    if (given == NULL) return 0;
    for (const char *at = given->value + strspn(given->value, robot_blanks); *at != '\0';) {
        const size_t length = strcspn(at, robot_blanks);
        double number = 0.0;
        if (!robot_read_number(at, length, &number)) {
            robot_error(file, node, name, "%s: '%.*s' is not a finite number", name, length > 40 ? 40 : (int)length,
                        at);
            return 0;
        }
        if (count < most) value[count] = number;
        count++;
        at += length;
        at += strspn(at, robot_blanks);
    }
    if (count >= least && count <= most) return count;
    if (least == most)
        robot_error(file, node, name, "%s has %d number%s, expected %d", name, count, count == 1 ? "" : "s", most);
    else
        robot_error(file, node, name, "%s has %d number%s, expected %d to %d", name, count, count == 1 ? "" : "s",
                    least, most);
    return 0;
}

bool robot_number(RobotFile *file, const XmlNode *node, const char *name, double *value)
{
    return robot_numbers(file, node, name, 1, 1, value) == 1;
}

bool robot_not_negative(RobotFile *file, const XmlNode *node, const char *name, double *value)
{
    double number = 0.0;
    if (!robot_number(file, node, name, &number)) return false;
    if (number >= 0.0) {
        *value = number;
        return true;
    }
    robot_error(file, node, name, "%s is %s, expected at least 0", name, text_number(number).text);
    return false;
}

bool robot_integer(RobotFile *file, const XmlNode *node, const char *name, int *value)
{
    double number = 0.0;
    if (!robot_number(file, node, name, &number)) return false;
    if (number == floor(number) && fabs(number) <= 2147483647.0) {
        *value = (int)number;
        return true;
    }
    robot_error(file, node, name, "%s is %s, expected a whole number", name, text_number(number).text);
    return false;
}

// ---- words ----------------------------------------------------------------------------------------------------------

static const char *robot_next_word(const char *words, size_t *length)
{
    words += strspn(words, " |");
    *length = strcspn(words, " |");
    return words;
}

static bool robot_is_word(const char *word, const char *at, size_t length)
{
    return strlen(word) == length && strncmp(word, at, length) == 0;
}

bool robot_word_in(const char *words, const char *word)
{
    size_t length = 0;
    if (words == NULL) return false;
    for (words = robot_next_word(words, &length); length > 0; words = robot_next_word(words + length, &length)) {
        if (robot_is_word(word, words, length)) return true;
    }
    return false;
}

int robot_choice(RobotFile *file, const XmlNode *node, const char *name, const char *words, int otherwise)
{
    const XmlAttribute *given = xml_attribute(node, name);
    size_t length = 0;
    int index = 0;
    if (given == NULL) return otherwise;
    for (const char *at = robot_next_word(words, &length); length > 0; at = robot_next_word(at + length, &length)) {
        if (robot_is_word(given->value, at, length)) return index;
        index++;
    }
    robot_error(file, node, name, "%s is '%.64s', expected one of %s", name, given->value, words);
    return otherwise;
}

// ---- which attributes there are -------------------------------------------------------------------------------------

// The words of a text, in the arena.
static int robot_split(RobotFile *file, const char *words, const char **list, int count)
{
    size_t length = 0;
    if (words == NULL) return count;
    for (words = robot_next_word(words, &length); length > 0; words = robot_next_word(words + length, &length)) {
        if (count < ROBOT_WORDS_MAX) list[count++] = arena_format(file->arena, "%.*s", (int)length, words);
    }
    return count;
}

static void robot_unknown_attribute(RobotFile *file, const XmlNode *node, const char *name, const RobotElement *element)
{
    const char *list[ROBOT_WORDS_MAX];
    if (robot_ignores_unknown(file, name)) return;
    int count = robot_split(file, element->read, list, 0);
    count = robot_split(file, element->solver, list, count);
    count = robot_split(file, element->show, list, count);
    count = robot_split(file, element->refused, list, count);
    const char *near = nearest_name(name, list, count);
    file->unread++;
    robot_error(file, node, name, "unknown attribute '%.64s' of <%s>; %s%s%s", name, node->name,
                near != NULL ? "did you mean '" : "delete it, or add ", near != NULL ? near : name,
                near != NULL ? "'?" : " to ignore, or unknown for all such words");
}

// Only zeros, or a word for nothing.
static bool robot_means_nothing(const char *value)
{
    for (const char *at = value + strspn(value, robot_blanks); *at != '\0';) {
        const size_t length = strcspn(at, robot_blanks);
        double number = 1.0;
        const bool none = robot_is_word("false", at, length) || robot_is_word("auto", at, length) ||
                          robot_is_word("none", at, length);
        if (!none && (!robot_read_number(at, length, &number) || number != 0.0)) return false;
        at += length;
        at += strspn(at, robot_blanks);
    }
    return true;
}

static void robot_check_attribute(RobotFile *file, const XmlNode *node, const XmlAttribute *given,
                                  const RobotElement *element)
{
    if (strncmp(given->name, "xmlns", 5) == 0 || robot_word_in(element->read, given->name) ||
        robot_word_in(element->show, given->name))
        return;
    if (robot_word_in(element->solver, given->name))
        robot_note(file, false, arena_format(file->arena, "%s %s", node->name, given->name), 1);
    else if (!robot_word_in(element->refused, given->name))
        robot_unknown_attribute(file, node, given->name, element);
    else if (!robot_means_nothing(given->value))
        robot_skip(file, node, given->name, given->name);
}

void robot_check_attributes(RobotFile *file, const XmlNode *node, const RobotElement *element)
{
    for (int i = 0; i < node->n_attributes; i++) robot_check_attribute(file, node, &node->attributes[i], element);
}

void robot_unknown_element(RobotFile *file, const XmlNode *node, const char *const *known, int count)
{
    if (robot_ignores_unknown(file, node->name)) return;
    const char *near = nearest_name(node->name, known, count);
    file->unread++;
    robot_error(file, node, NULL, "unknown element <%.64s> in <%s>; %s%s%s", node->name, node->parent->name,
                near != NULL ? "did you mean <" : "delete it, or add ", near != NULL ? near : node->name,
                near != NULL ? ">?" : " to ignore, or unknown for all such words");
}
