for (const button of document.querySelectorAll("figure .enlarge")) enlarges(button);

(() => {
  const PAGE = 25;
  const found = document.getElementById("data");
  const list = document.getElementById("list");
  if (!list) return;
  const data = JSON.parse(found.textContent);
  const rows = data.rows.map((cells, index) => {
    const row = Object.fromEntries(data.names.map((name, column) => [name, cells[column]]));
    row.index = index;
    row.reward = Object.values(row.rewards)[0] ?? null;
    row.length = row.completion.reduce((sum, part) => sum + part[1].length, 0);
    return row;
  });
  const element = (id) => document.getElementById(id);

  const searched = rows.map((row) => [...data.prompts[row.prompt], ...row.completion].map((part) => part[1])
    .concat(row.message, row.failing_test, row.task).join("\n").toLowerCase());
  const FILTERS = { run: (row) => data.runs[row.run], step: (row) => String(row.step), verdict: (row) => row.verdict, task: (row) => row.task };
  const known = (value) => (value === null ? 1 : 0);
  const ORDERS = {
    newest: (a, b) => b.step - a.step || a.index - b.index,
    oldest: (a, b) => a.index - b.index,
    best: (a, b) => known(a.reward) - known(b.reward) || b.reward - a.reward || a.index - b.index,
    worst: (a, b) => known(a.reward) - known(b.reward) || a.reward - b.reward || a.index - b.index,
    longest: (a, b) => b.length - a.length || a.index - b.index,
  };
  let first = 0;

  const matching = () => {
    const wanted = Object.entries(FILTERS).filter(([id]) => element(id)?.value);
    const text = element("text").value.toLowerCase();
    return rows
      .filter((row) => wanted.every(([id, value]) => value(row) === element(id).value) && searched[row.index].includes(text))
      .sort(ORDERS[element("order").value]);
  };
  const show = () => {
    const matched = matching();
    first = Math.min(first, Math.max(0, Math.floor((matched.length - 1) / PAGE) * PAGE));
    const shown = matched.slice(first, first + PAGE);
    list.replaceChildren(...shown.map((row, index) => card(
      row, data.verdicts, data.runs.length > 1 ? data.runs[row.run] : "", index === 0,
      (details) => details.append(inside(row, data.prompts[row.prompt])))));
    const range = shown.length ? `${first + 1} to ${first + shown.length} of ` : "";
    element("count").textContent = `${range}${matched.length} matching, of ${rows.length} completions`;
    element("previous").disabled = first === 0;
    element("next").disabled = first + PAGE >= matched.length;
  };
  const restart = () => { first = 0; show(); };
  const move = (by) => { first += by; show(); list.scrollIntoView({ block: "nearest" }); };

  const collator = new Intl.Collator("en", { numeric: true });
  for (const [id, value] of Object.entries(FILTERS)) {
    const select = element(id);
    if (!select) continue;
    const counts = new Map();
    for (const row of rows) counts.set(value(row), (counts.get(value(row)) ?? 0) + 1);
    const all = node("option", "", "all");
    all.value = "";
    const options = [...counts].filter(([name]) => name).sort((a, b) => collator.compare(a[0], b[0])).map(([name, count]) => {
      const option = node("option", "", `${name.slice(0, 60)} (${count})`);
      option.value = name;
      return option;
    });
    select.append(all, ...options);
    select.addEventListener("change", restart);
  }
  element("order").addEventListener("change", restart);
  element("text").addEventListener("input", restart);
  element("filters").addEventListener("submit", (event) => event.preventDefault());
  element("clear").addEventListener("click", () => { element("filters").reset(); restart(); });
  element("previous").addEventListener("click", () => move(-PAGE));
  element("next").addEventListener("click", () => move(PAGE));
  show();
})();
