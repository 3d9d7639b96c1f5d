"use strict";
// What the report and the live page share. Text from runs is hostile: it enters text nodes only, and
// no script of ours parses HTML.
const enlarges = (button) => {
  button.hidden = false;
  button.addEventListener("click", () => {
    const isLarge = button.parentElement.classList.toggle("large");
    button.setAttribute("aria-pressed", String(isLarge));
  });
};

const node = (tag, name, ...children) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
};

// Characters that are invisible or change the direction of text are shown by their number.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const plain = (text) => {
  const pieces = [];
  let last = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].codePointAt(0).toString(16).padStart(4, "0");
    pieces.push(text.slice(last, match.index), node("span", "hidden-letter", `\\u${code}`));
    last = match.index + 1;
  }
  pieces.push(text.slice(last));
  return pieces;
};

// Each alternative matches without backtracking, so that no text makes it slow.
const TOKEN = new RegExp([
  '("""[^]*?(?:"""|$)|\'\'\'[^]*?(?:\'\'\'|$)|"(?:[^"\\\\\\n]|\\\\[^])*"?|\'(?:[^\'\\\\\\n]|\\\\[^])*\'?)',
  "((?:#|//)[^\\n]*)",
  "\\b(and|as|assert|async|await|break|case|catch|class|const|continue|def|del|do|elif|else|except|False|final|finally|fn|for|from|func|function|global|if|impl|import|in|int|is|lambda|let|match|new|None|nonlocal|not|null|or|pass|private|public|raise|return|self|static|struct|switch|this|throw|True|true|false|try|type|var|void|while|with|yield)\\b",
  "\\b(\\d[\\w.]*)",
].join("|"), "g");
const CLASSES = ["s", "c", "k", "n"];
const code = (text) => {
  const pieces = [];
  let last = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    pieces.push(...plain(text.slice(last, match.index)), node("span", CLASSES[kind], ...plain(match[0])));
    last = match.index + match[0].length;
  }
  return [...pieces, ...plain(text.slice(last))];
};

// Text between fences is code, and text around them is prose; without a fence all is code.
const highlighted = (text) => {
  const lines = text.split(/(?<=\n)/);
  const isFence = (line) => /^\s{0,3}(```|~~~)/.test(line);
  if (!lines.some(isFence)) return code(text);
  const pieces = [];
  let inside = false, block = "";
  const flush = () => {
    pieces.push(...(inside ? code(block) : [node("span", "prose", ...plain(block))]));
    block = "";
  };
  for (const line of lines) {
    if (isFence(line)) {
      flush();
      inside = !inside;
      pieces.push(node("span", "prose", ...plain(line)));
    } else block += line;
  }
  flush();
  return pieces;
};

const parts = (messages, render) => messages.flatMap(([role, text]) => {
  const shown = node("pre", "", ...render(text));
  shown.tabIndex = 0;
  return role ? [node("h4", "", ...plain(role)), shown] : [shown];
});
const number = (value) => (value === null ? "none" : String(Number(value.toPrecision(4))));
const fact = (name, value) => (value ? [node("p", "facts", node("b", "", `${name}: `), ...plain(value))] : []);

// Shows two values side by side, marked from the first different character to the last.
const common = (one, other, at) => {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && at(one, count) === at(other, count)) count += 1;
  return count;
};
const compared = (pair) => {
  if (!pair) return [];
  const letters = pair.map(([, value]) => [...value]);
  const start = common(...letters, (text, place) => text[place]);
  const rests = letters.map((text) => text.slice(start));
  const end = common(...rests, (text, place) => text[text.length - 1 - place]);
  return [node("div", "compared", ...pair.map(([name], side) => {
    const changed = rests[side].slice(0, rests[side].length - end).join("");
    const value = node("pre", "", ...plain(letters[side].slice(0, start).join("")));
    if (changed) value.append(node("mark", "", ...plain(changed)));
    value.append(...plain(rests[side].slice(rests[side].length - end).join("")));
    value.tabIndex = 0;
    return node("div", `side ${name}`, node("h4", "", name), value);
  }))];
};

const inside = (row, prompts) => {
  const rewards = Object.entries(row.rewards).map(([name, value]) => `${name} ${number(value)}`).join(", ");
  const prompt = node("div", "", node("h4", "", "prompt"), ...parts(prompts, plain));
  const completion = node("div", "", node("h4", "", "completion"), ...parts(row.completion, highlighted));
  if (row.cut) completion.append(node("p", "note", `${row.cut} more characters are not shown.`));
  return node("div", "inside",
    ...fact("failing test", row.failing_test), ...fact("message", row.message), ...compared(row.compared),
    prompt, completion,
    ...fact("rewards", rewards), ...fact("integrity", row.integrity), ...fact("signals of reward hacking", row.signals));
};

// A completion of a list: its summary, and what `content` appends to it once it is opened.
const card = (row, verdicts, run, isOpen, content) => {
  const verdict = row.verdict || "no verdict logged";
  const chip = node("span", `chip v-${verdicts.includes(verdict) ? verdict : "other"}`, ...plain(verdict));
  const details = node("details", "", node("summary", "",
    node("span", "step", `step ${row.step}`), chip,
    node("span", "score", "reward ", node("b", "", number(row.reward))),
    node("span", "score", "advantage ", node("b", "", number(row.advantage))),
    ...(row.turns > 1 ? [node("span", "score", `${row.turns} turns`)] : []),
    node("span", "task", ...plain(row.task)),
    node("span", "score", `${run ? `${run}, ` : ""}group ${row.group + 1}`)));
  const fill = () => { if (details.open && details.childElementCount === 1) content(details); };
  details.addEventListener("toggle", fill);
  details.open = isOpen;
  fill();
  return details;
};
