// Conditions on trials in the language of --where (runner/experiment/expression): parsed by recursive descent,
// evaluated column by column. A missing value is NaN; a comparison with it is NaN, which does not hold.
"use strict";
const condition = (() => {
  const known = (test) => (a, b) => (a !== a ? a : b !== b ? b : test(a, b) ? 1 : 0);
  const first = (test) => (a, b) => (a !== a ? a : b !== b ? b : test(a, b) ? a : b);
  const truth = (a) => a < 0 || a > 0;
  const operations = { // by the sign or the name; binary operators by rank below
    or: (a, b) => (truth(a) || truth(b) ? 1 : a !== a ? a : b !== b ? b : 0),
    and: (a, b) => (a === 0 || b === 0 ? 0 : a !== a ? a : b !== b ? b : 1),
    not: (a) => (a !== a ? a : truth(a) ? 0 : 1),
    "<=": known((a, b) => a <= b), "<": known((a, b) => a < b), ">=": known((a, b) => a >= b),
    ">": known((a, b) => a > b), "!=": known((a, b) => a !== b), "=": known((a, b) => a === b),
    "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, negate: (a) => -a,
    "^": (a, b) => (a !== a || b !== b ? NaN : a ** b),
    min: first((a, b) => a < b), max: first((a, b) => a > b),
    clip: (a, b, c) => operations.min(operations.max(a, b), c),
    if: (a, b, c) => (a !== a ? a : truth(a) ? b : c),
    abs: Math.abs, sign: Math.sign, step: (a) => (a !== a ? a : a >= 0 ? 1 : 0), floor: Math.floor, ceil: Math.ceil,
    mod: (a, b) => a - b * Math.floor(a / b), sqrt: Math.sqrt, exp: Math.exp, log: Math.log, sinh: Math.sinh,
    cosh: Math.cosh, tanh: Math.tanh, sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos,
    atan: Math.atan, atan2: Math.atan2, hypot: Math.hypot,
  };
  const functions = { // by the name: its arguments; -2: two or more
    __proto__: null, min: -2, max: -2, clip: 3, if: 3, abs: 1, sign: 1, step: 1, floor: 1, ceil: 1, mod: 2, sqrt: 1,
    exp: 1, log: 1, sinh: 1, cosh: 1, tanh: 1, sin: 1, cos: 1, tan: 1, asin: 1, acos: 1, atan: 1, atan2: 2, hypot: 2
    };
  // What other languages write, and what is written here; null: nothing else.
  const habits = [["&&", "and"], ["||", "or"], ["**", "^"], ["<>", "!="], ["!=", null], ["!", "not"], ["&", "and"],
    ["|", "or"], ["\u2212", "-"], ["\u00d7", "*"], ["\u00b7", "*"], ["\u00f7", "/"], ["\u2264", "<="],
    ["\u2265", ">="], ["\u2260", "!="], ["\"", "'"], ["[", "("], ["]", ")"], ["AND", "and"], ["OR", "or"],
    ["NOT", "not"], ["\u03c0", "pi"], ["//", "floor(a / b)"], ["%", "mod(a, b)"], ["?", "if(condition, a, b)"]];
  const ranks = [["or"], ["and"], "not", ["<=", "<", ">=", ">", "!=", "==", "="], ["+", "-"], ["*", "/"], "negate",
    ["^"]];
  const COMPARE = 3, POWER = 7, DEPTH = 100;

  class Wrong extends Error {
    constructor(message, at, width) { super(message); this.at = at; this.width = Math.max(1, width); }
  }
  // The nearest name, as io/diagnostics.c finds it: insertions, deletions, substitutions and swaps of neighbours.
  const distance = (a, b) => {
    const rows = [[...Array(b.length + 1).keys()]];
    for (let i = 1; i <= a.length; i++) {
      const row = [i], above = rows[i - 1];
      for (let j = 1; j <= b.length; j++) {
        row.push(Math.min(row[j - 1] + 1, above[j] + 1, above[j - 1] + (a[i - 1] !== b[j - 1])));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
      }
      rows.push(row);
    }
    return rows[a.length][b.length];
  };
  const nearest = (name, names) => {
    const most = name.length < 6 ? 1 : Math.floor(name.length / 3);
    let best = null, least = [most + 1, 0];
    for (const other of names) {
      if (name.length > 64 || Math.abs(other.length - name.length) > most) continue;
      const folded = distance(name.toLowerCase(), other.toLowerCase());
      const apart = folded === 0 ? 0 : distance(name, other);
      if (apart > least[0] || (apart === least[0] && folded >= least[1])) continue;
      best = other;
      least = [apart, folded];
    }
    return best;
  };

  // scope: name -> {words}, words undefined for numbers. Gives a tree of {op, args, from, to}; throws Wrong.
  const parse = (text, scope) => {
    let at = 0, depth = 0;
    const skip = () => { while (/[ \t\r\n]/.test(text[at] || "")) at++; };
    const wordAt = (k) => (/^[A-Za-z_][A-Za-z0-9_]*/.exec(text.slice(k)) || [""])[0];
    const habitAt = (length = 0) => habits.find(([wrong]) => wrong.length > length && text.startsWith(wrong, at) &&
      (!/[A-Z]/.test(wrong) || wordAt(at) === wrong));
    const unexpected = (expected) => {
      const found = habitAt(), habit = found && found[1] !== null ? found : null, word = wordAt(at);
      if (habit) throw new Wrong(`write ${habit[1]} instead of ${habit[0]}`, at, habit[0].length);
      if (at >= text.length) throw new Wrong(`expected ${expected} at the end`, at, 1);
      if (word) throw new Wrong(`expected ${expected} before '${word}'`, at, word.length);
      throw new Wrong(`expected ${expected} here, not '${String.fromCodePoint(text.codePointAt(at))}'`, at, 1);
    };
    const take = (signs) => {
      skip();
      for (const sign of signs) {
        if (!text.startsWith(sign, at) || (/[a-z]/.test(sign) && wordAt(at) !== sign)) continue;
        if (habitAt(sign.length)) continue;
        at += sign.length;
        return sign === "==" ? "=" : sign;
      }
      return null;
    };
    const deeper = (of) => {
      if (++depth > DEPTH) throw new Wrong(`nested more than ${DEPTH} deep`, at, 1);
      const result = of();
      depth--;
      return result;
    };
    const isText = (node) => node.op === "text" || (node.op === "name" && node.words !== undefined);
    const needNumber = (node) => {
      if (node.op === "text")
        throw new Wrong("a text can only be compared, with = or !=, to a column that holds texts", node.from, 1);
      if (isText(node)) throw new Wrong(`'${node.name}' is a text; compare it, as in ${node.name} = ` +
        `'${node.words[0] || "none"}'`, node.from, node.name.length);
      return node;
    };
    const resolve = (name, other) => { // a text beside a name: the index of its word
      if (other.op !== "text") return other;
      const index = name.words.indexOf(other.text);
      if (index < 0 && !name.closed) return { ...other, op: "number", value: -1 };
      const near = nearest(other.text, name.words);
      if (index < 0) throw new Wrong(`'${name.name}' is never '${other.text}'` +
        (near ? `; did you mean '${near}'?` : `: its words are ${name.words.slice(0, 12).join(", ")}`), other.from, 1);
      return { ...other, op: "number", value: index };
    };
    const sides = (op, left, right) => {
      const names = [left, right].filter((node) => node.op === "name" && isText(node));
      if ((op === "=" || op === "!=") && isText(left) && isText(right) && names.length > 0)
        return [resolve(names[0], left), resolve(names[0], right)];
      return [needNumber(left), needNumber(right)];
    };
    const call = (name, from) => {
      const wanted = functions[name], args = [];
      at++;
      deeper(() => {
        for (;;) {
          skip();
          if (args.length === 0 && text[at] === ")") break;
          args.push(needNumber(rank(0)));
          skip();
          if (text[at] !== ",") break;
          at++;
        }
      });
      if (text[at] !== ")") throw new Wrong(`expected ${args.length ? "',' or ')'" : "a value or ')'"} here`, at, 1);
      at++;
      if (wanted === undefined) {
        const near = nearest(name, Object.keys(functions));
        throw new Wrong(`unknown function '${name}'` + (near ? `; did you mean '${near}'?` : ""), from, name.length);
      }
      if (wanted === -2 ? args.length < 2 : args.length !== wanted) {
        const words = { 1: "one argument", 2: "two arguments", 3: "three arguments", "-2": "two or more arguments" };
        throw new Wrong(`${name} takes ${words[wanted]}; ${args.length} given`, from, name.length);
      }
      if (wanted !== -2) return { op: name, args, from, to: at };
      return args.reduce((a, b) => ({ op: name, args: [a, b], from, to: at }));
    };
    const atom = () => {
      skip();
      const from = at, word = wordAt(at);
      if (text[at] === "(") {
        at++;
        const inner = deeper(() => rank(0));
        skip();
        if (at >= text.length) throw new Wrong("this parenthesis is never closed", from, 1);
        if (text[at] !== ")") unexpected("an operator or ')'");
        at++;
        return { ...inner, from, to: at };
      }
      if (text[at] === "'") {
        const found = /^'((?:[^']|'')*)'(?!')/.exec(text.slice(at));
        if (!found) throw new Wrong("this quote is never closed", from, 1);
        at += found[0].length;
        return { op: "text", text: found[1].replace(/''/g, "'"), from, to: at };
      }
      if (/^\.?[0-9]/.test(text.slice(at))) {
        const all = /^[0-9A-Za-z_.]+(?:(?<=[0-9][eE])[+-][0-9]+)?/.exec(text.slice(at))[0];
        if (!/^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(all)) {
          const hint = all[0] === "." ? `write 0${all}, with a digit before the point`
            : /^[0-9]+\.$/.test(all) ? `write ${all}0, with a digit behind the point` : `'${all}' is not a number`;
          throw new Wrong(hint, from, all.length);
        }
        if (!Number.isFinite(Number(all))) throw new Wrong("this number is too large for a double", from, all.length);
        at += all.length;
        return { op: "number", value: Number(all), from, to: at };
      }
      if (!word || (habitAt() && !scope.has(word))) unexpected("a value");
      if (["and", "or", "not"].includes(word)) throw new Wrong(`expected a value before '${word}'`, from, word.length);
      at += word.length;
      const behind = at;
      skip();
      if (text[at] === "(") return call(word, from);
      at = behind;
      if (scope.has(word)) return { op: "name", name: word, words: scope.get(word).words,
        closed: scope.get(word).origin === "parameter", from, to: at }; // closed: it has no other words
      if (word === "pi") return { op: "number", value: Math.PI, from, to: at };
      const names = [...scope.keys()], near = nearest(word, names);
      const holder = [...scope].find(([, one]) => one.words?.includes(word)); // a text without quotes
      if (holder && functions[word] === undefined)
        throw new Wrong(`unknown name '${word}'; a text stands in single quotes: ${holder[0]} = '${word}'`, from,
          word.length);
      throw new Wrong(functions[word] !== undefined ? `'${word}' is a function; write ${word}(...)`
        : near ? `unknown name '${word}'; did you mean '${near}'?`
          : `unknown name '${word}'; there are: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", ..." : ""}`,
        from, word.length);
    };
    const rank = (r) => {
      if (r === ranks.length) return atom();
      if (typeof ranks[r] === "string") { // a prefix
        skip();
        const from = at;
        if (take([ranks[r] === "negate" ? "-" : ranks[r]]) === null) return rank(r + 1);
        const inner = deeper(() => needNumber(rank(r)));
        return { op: ranks[r], args: [inner], from, to: at };
      }
      let left = rank(r + 1);
      for (let n = 0; ; n++) {
        skip();
        const sign = at, op = take(ranks[r]);
        if (op === null) return left;
        if (r === COMPARE && n > 0)
          throw new Wrong("comparisons do not chain; write x < y and y < z for x < y < z", sign, at - sign);
        const right = r === POWER ? deeper(() => rank(r - 1)) : rank(r + 1);
        left = { op, args: sides(op, left, right), from: left.from, to: right.to };
      }
    };
    skip();
    if (at >= text.length) throw new Wrong("the expression is empty", at, 1);
    const tree = needNumber(rank(0));
    skip();
    if (at < text.length) unexpected("an operator");
    return tree;
  };

  // Values of a tree: a number, or an array of n. column: name -> array.
  const values = (node, column, n) => {
    if (node.op === "number") return node.value;
    if (node.op === "name") return column(node.name);
    const args = node.args.map((arg) => values(arg, column, n)), f = operations[node.op];
    if (args.every((arg) => typeof arg === "number")) return f(...args);
    const [a, b, c] = args.map((arg) => (typeof arg === "number" ? new Float64Array(n).fill(arg) : arg));
    const out = new Float64Array(n);
    if (!b) for (let i = 0; i < n; i++) out[i] = f(a[i]);
    else if (!c) for (let i = 0; i < n; i++) out[i] = f(a[i], b[i]);
    else for (let i = 0; i < n; i++) out[i] = f(a[i], b[i], c[i]);
    return out;
  };
  // Whether it holds: an array of n bytes, 1 or 0.
  const holds = (node, column, n) => {
    const value = values(node, column, n), out = new Uint8Array(n);
    if (typeof value === "number") return out.fill(truth(value) ? 1 : 0);
    for (let i = 0; i < n; i++) out[i] = value[i] < 0 || value[i] > 0 ? 1 : 0;
    return out;
  };

  // ---- terms: ranges of columns, which brushes show and change, and the rest as text -------------------------------
  const turned = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
  const range = (node) => {
    if (!turned[node.op]) return null;
    const [left, right] = node.args, constant = (side) => (side.op === "number" ? side.value
      : side.op === "negate" && side.args[0].op === "number" ? -side.args[0].value : null);
    if (left.op === "name" && constant(right) !== null) return { name: left.name, op: node.op, value: constant(right) };
    if (right.op === "name" && constant(left) !== null)
      return { name: right.name, op: turned[node.op], value: constant(left) };
    return null;
  };
  // 'fell' or 'slid' of a column of texts; null: something else
  const wordsOf = (node) => {
    if (node.op === "=" && node.args[0].op === "name" && node.args[1].text !== undefined &&
        node.args[1].value >= 0)
      return { name: node.args[0].name, words: [node.args[1].value] };
    const both = node.op === "or" ? node.args.map(wordsOf) : [];
    if (both.length === 0 || both.some((one) => one === null) || both[0].name !== both[1].name) return null;
    return { name: both[0].name, words: [...both[0].words, ...both[1].words] };
  };
  const terms = (text, tree) => {
    const ranges = new Map(), rest = [];
    const walk = (node) => {
      if (node.op === "and" && text[node.from] !== "(") { node.args.forEach(walk); return; }
      const listed = wordsOf(node);
      if (listed && !ranges.has(listed.name)) { ranges.set(listed.name, { words: listed.words }); return; }
      const one = range(node), side = one && (one.op[0] === "<" ? "high" : "low");
      const had = one ? ranges.get(one.name) || {} : null;
      if (one && had[side] === undefined) ranges.set(one.name, { ...had, [side]: one.value, [`${side}_op`]: one.op });
      else rest.push({ node, text: text.slice(node.from, node.to) });
    };
    if (tree) walk(tree);
    return { ranges, rest };
  };
  const grouped = ({ node, text }) => (node.op === "or" && text[0] !== "(" ? `(${text})` : text);
  const bounds = (name, { low, low_op = ">=", high, high_op = "<=", words }, scope) => {
    const quote = (k) => `${name} = '${scope.get(name).words[k].replace(/'/g, "''")}'`;
    if (words && words.length === 0) return ["0 > 1"];
    if (words) return [words.length > 1 ? `(${words.map(quote).join(" or ")})` : quote(words[0])];
    return [...(low !== undefined ? [`${name} ${low_op} ${low}`] : []),
      ...(high !== undefined ? [`${name} ${high_op} ${high}`] : [])];
  };
  const write = ({ ranges, rest }, scope) =>
    [...rest.map(grouped), ...[...ranges].flatMap(([name, range]) => bounds(name, range, scope))].join(" and ");

  return { parse, holds, terms, write };
})();
