// The live page: asks again and again what the runs have written, and changes what is different.
(() => {
  const POLL_MILLISECONDS = 1500, READING_MILLISECONDS = 50;
  const PAGE = 25;
  const element = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = [], mode = "";
  let state = null;

  const ask = async (name, query = {}) => {
    const address = new URL(name, location.href);
    for (const [key, value] of Object.entries({ runs: chosen.join("."), mode, ...query })) address.searchParams.set(key, value);
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };

  // Replaces what an element holds, only if the values that it shows have changed.
  const shown = new Map();
  const update = (id, values, make) => {
    const text = JSON.stringify(values);
    if (shown.get(id) === text) return;
    shown.set(id, text);
    element(id).replaceChildren(...make(values));
  };
  const tell = (id, text) => {
    element(id).hidden = !text;
    if (element(id).textContent !== text) element(id).textContent = text;
  };

  const duration = (seconds) => {
    if (seconds === null || seconds === undefined) return "not known";
    if (seconds < 90) return `${Number(seconds.toPrecision(2))} s`;
    const minutes = Math.round(seconds / 60);
    return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  };

  const about = (name, value) => node("span", "", `${name} `, node("b", "", value));
  const runFacts = (run) => {
    const { progress } = run;
    const facts = [about("step", progress.max_steps ? `${progress.step} of ${progress.max_steps}` : String(progress.step))];
    if (progress.state !== "finished") facts.push(about("left", duration(progress.left_seconds)));
    facts.push(about("since the start", duration(run.seconds)), about("a step", duration(progress.step_seconds)));
    if (progress.completions_a_second !== null) facts.push(about("completions a second", number(progress.completions_a_second)));
    if (progress.tokens_a_second !== null) facts.push(about("tokens a second", number(progress.tokens_a_second)));
    facts.push(about("last written", `${duration(Math.round(progress.silent_seconds))} ago`));
    return node("p", "facts-of", ...facts);
  };
  const timeParts = (parts) => {
    const all = Object.values(parts).reduce((sum, one) => sum + one, 0);
    if (!all) return [];
    const bar = node("div", "parts", ...Object.values(parts).map((seconds) => {
      const part = node("span", "");
      part.style.width = `${(100 * seconds) / all}%`;
      return part;
    }));
    const keys = Object.entries(parts).map(([name, seconds]) => node("span", "", node("i", ""), `${name} ${Math.round((100 * seconds) / all)} %`));
    return [bar, node("p", "keys", ...keys)];
  };
  const runCard = (run, index, several) => {
    const box = node("div", "run");
    const heading = node("h2", "");
    if (several && run.progress) {
      const check = node("input", "");
      check.type = "checkbox";
      check.checked = state.selection.includes(index);
      check.id = `choose-${index}`;
      check.addEventListener("change", () => choose(index, check.checked));
      heading.append(node("label", "", check, ...plain(run.label)));
    } else heading.append(...plain(run.label));
    if (run.progress) heading.append(node("span", `state ${run.progress.state}`, run.progress.state));
    box.append(heading);
    if (run.problem) box.append(node("p", "note", ...plain(run.problem)));
    if (!run.progress) return box;
    if (run.progress.share !== null) {
      const bar = node("progress", "");
      bar.value = run.progress.share;
      bar.setAttribute("aria-label", "share of the run that is done");
      box.append(bar);
    }
    box.append(runFacts(run), ...timeParts(run.progress.parts),
      node("p", "path", ...plain(`${run.model} on ${run.data}, reward ${run.reward}, groups of ${run.size}, seed ${run.seed}, started ${run.started}; ${run.folder}`)));
    return box;
  };
  const choose = (index, isChosen) => {
    const kept = state.selection.filter((one) => one !== index);
    chosen = (isChosen ? [...kept, index] : kept).sort((a, b) => a - b);
    refresh();
  };

  // Numbers and settings of runs beside each other.
  const MODES = { together: "together, as seeds of one experiment", compared: "each with its own line" };
  const modeOptions = (names) => names.map((name) => {
    const option = node("option", "", MODES[name]);
    option.value = name;
    return option;
  });
  const table = (labels, rows) => {
    const head = ["", ...labels].map((label) => node("th", "", ...plain(label)));
    return [node("thead", "", node("tr", "", ...head)), node("tbody", "", ...rows)];
  };
  const showComparison = () => {
    const labels = state.selection.map((index) => state.runs[index].label);
    update("mode", state.modes.toSorted(), modeOptions);
    element("mode").value = state.mode;
    element("mode-line").hidden = state.modes.length < 2;
    update("comparison", [labels, state.comparison], ([, rows]) => table(labels, rows.map((one) => node("tr", "",
      node("th", "", ...plain(one.name)), ...one.cells.map((found) => node("td", "",
        node("b", "", ...plain(found?.value ?? "–")), node("span", "", ...plain(found?.note ?? ""))))))));
    element("comparison-frame").hidden = !state.comparison.length;
    update("settings", [labels, state.settings], ([, settings]) => table(labels, Object.entries(settings).map(([name, values]) =>
      node("tr", "", node("th", "", ...plain(name)), ...values.map((value) => node("td", "", ...plain(value)))))));
    element("settings-frame").hidden = !Object.keys(state.settings).length;
  };
  element("mode").addEventListener("change", () => { mode = element("mode").value; refresh(); });

  // Pictures of figures are loaded where they are seen.
  const visible = new Set();
  const load = (image) => {
    const scheme = dark.matches ? "dark" : "light";
    const wanted = `figure?name=${encodeURIComponent(image.dataset.name)}&scheme=${scheme}&runs=${state.selection.join(".")}&mode=${state.mode}&drawing=${state.drawing}`;
    if (visible.has(image) && image.getAttribute("src") !== wanted) image.setAttribute("src", wanted);
  };
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) visible.add(target); else visible.delete(target);
      load(target);
    }
  }, { rootMargin: "300px" });
  const figure = (name) => {
    const image = node("img", "");
    image.dataset.name = name;
    const button = node("button", "enlarge", "Enlarge");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    const frame = node("div", "scroll", image);
    frame.tabIndex = 0;
    const made = node("figure", "", node("h3", ""), frame, button, node("figcaption", ""));
    made.id = `figure-${name}`;
    enlarges(button);
    observer.observe(image);
    return made;
  };
  const showFigures = () => {
    update("figures", state.figures.map((one) => one.name), (names) => names.map((name) => element(`figure-${name}`) ?? figure(name)));
    for (const one of state.figures) {
      const made = element(`figure-${one.name}`);
      made.querySelector("h3").textContent = one.title;
      made.querySelector("figcaption").textContent = one.caption;
      const image = made.querySelector("img");
      image.alt = one.alt;
      load(image);
    }
    const waiting = state.selection.length ? "The figures are being drawn." : "There are none yet.";
    tell("drawing", state.figures_problem || (state.figures.length ? "" : state.drawing ? "Nothing was logged yet." : waiting));
  };

  const cell = (name, ...children) => node("td", name, ...children);
  const isolated = (text) => node("bdi", "", ...plain(text));
  const eventRows = (events) => events.map((event) => node("tr", "",
    cell("amount", String(event.step)), cell("amount", (event.seconds / 60).toFixed(1)), cell("", ...plain(event.run)),
    cell("kind-of", isolated(event.kind)), cell("", isolated(event.message))));

  // The list of completions. While a reader has one open, it stays as it is, and a button offers more.
  const FILTERS = ["step", "verdict", "signal", "task", "order", "text"];
  const list = element("list");
  let first = 0, listed = 0, asked = 0, named = "", rows = [];
  const labelled = (label) => (state.selection.length > 1 ? label : "");
  const query = () => Object.fromEntries(FILTERS.map((id) => [id, element(id).value.trim()]).filter(([, value]) => value));
  const open = async (details, row) => {
    const box = node("div", "note", "loading");
    details.append(box);
    try {
      const full = await ask("completion", { run: row.run, step: row.step, place: row.place });
      const made = inside(full, full.prompt);
      const button = node("button", "", `Compare the group of ${state.runs[row.run].size}`);
      button.type = "button";
      button.addEventListener("click", () => openGroup(row.run, row.step, row.group));
      made.prepend(node("p", "actions", button));
      box.replaceWith(made);
    } catch (error) {
      box.textContent = `It cannot be read: ${error.message.trim()}`;
    }
  };
  const row = (one) => {
    const made = card(one, state.verdicts, labelled(one.label), false, (details) => open(details, one));
    const signals = node("span", "signals", ...plain(one.signals.join(", ")));
    if (one.signals.length) made.firstChild.insertBefore(signals, made.firstChild.lastChild);
    return made;
  };
  const loadList = async () => {
    const turn = (asked += 1);
    const found = await ask("completions", { ...query(), first });
    if (turn !== asked) return;
    first = found.first;
    listed = state.completions.version;
    rows = found.rows;
    list.replaceChildren(...found.rows.map(row));
    const range = found.rows.length ? `${first + 1} to ${first + found.rows.length} of ` : "";
    tell("count", `${range}${found.count} matching, of ${state.completions.count} completions`);
    element("previous").disabled = first === 0;
    element("next").disabled = first + found.rows.length >= found.count;
    element("fresh").hidden = true;
  };
  const showList = () => loadList().catch(() => {});
  const restart = () => { first = 0; showList(); };
  const move = async (by) => { first += by; await showList(); list.scrollIntoView({ block: "nearest" }); };
  const isReading = () => first > 0 || list.querySelector("details[open]") || list.contains(document.activeElement);
  const options = (id, names) => {
    const select = element(id);
    const { value } = select;
    const made = [["", "all"], ...names].map(([name, text]) => {
      const option = node("option", "", ...plain(text));
      option.value = name;
      return option;
    });
    select.replaceChildren(...made);
    select.value = value;
  };
  const showNames = async () => {
    const found = await ask("names");
    const counted = (pairs) => pairs.map(([name, count]) => [name, `${name.slice(0, 60)} (${count})`]);
    options("verdict", counted(found.verdicts));
    options("signal", found.signals.length ? [["any", "any"], ...counted(found.signals)] : []);
    element("tasks").replaceChildren(...found.tasks.map(([name]) => {
      const option = node("option", "");
      option.value = name;
      return option;
    }));
  };
  const showCompletions = async () => {
    const { version, left, unsearched, broken } = state.completions;
    const told = [];
    if (left) told.push(`${left} tables are still being read.`);
    if (unsearched) told.push(`Texts are searched in all but the oldest ${unsearched} completions.`);
    if (broken) told.push(`${broken} tables cannot be read.`);
    tell("unsearched", told.join(" "));
    const now = `${version} ${state.selection}`;
    if (named === now) return;
    const isOther = named.split(" ")[1] !== String(state.selection);
    named = now;
    await showNames();
    if (isOther) return restart();
    if (!isReading()) return showList();
    element("fresh").textContent = "Show new ones";
    element("fresh").hidden = listed === version;
  };

  // The completions of a prompt, side by side.
  const dialog = element("group");
  let place = null;
  const column = (full) => {
    const verdict = full.verdict || "no verdict logged";
    const chip = node("span", `chip v-${state.verdicts.includes(verdict) ? verdict : "other"}`, ...plain(verdict));
    const score = (name, value) => node("span", "score", `${name} `, node("b", "", number(value)));
    return node("article", "", node("h3", "", chip, score("reward", full.reward), score("advantage", full.advantage)),
      ...fact("failing test", full.failing_test), ...fact("message", full.message), ...compared(full.compared),
      ...fact("signals of reward hacking", full.signals), ...parts(full.completion, highlighted),
      ...(full.cut ? [node("p", "note", `${full.cut} more characters are not shown.`)] : []));
  };
  const openGroup = async (run, step, group) => {
    const found = await ask("group", { run, step, group });
    place = { run, step, group };
    const [firstRow] = found.rows;
    element("group-title").replaceChildren(...plain(`${labelled(found.label) ? `${found.label}, ` : ""}step ${step}, group ${group + 1} of ${found.last + 1}${firstRow.task ? `, ${firstRow.task}` : ""}`));
    element("group-prompt-text").replaceChildren(...parts(firstRow.prompt, plain));
    element("group-columns").replaceChildren(...found.rows.map(column));
    element("group-columns").scrollTo(0, 0);
    element("group-previous").disabled = group === 0;
    element("group-next").disabled = group >= found.last;
    if (!dialog.open) dialog.showModal();
  };
  const turnGroup = (by) => openGroup(place.run, place.step, place.group + by).catch(() => {});

  for (const id of FILTERS) element(id).addEventListener(element(id).tagName === "SELECT" ? "change" : "input", restart);
  element("filters").addEventListener("submit", (event) => event.preventDefault());
  element("clear").addEventListener("click", () => { element("filters").reset(); restart(); });
  element("previous").addEventListener("click", () => move(-PAGE));
  element("next").addEventListener("click", () => move(PAGE));
  element("fresh").addEventListener("click", restart);
  element("group-previous").addEventListener("click", () => turnGroup(-1));
  element("group-next").addEventListener("click", () => turnGroup(1));
  element("group-close").addEventListener("click", () => dialog.close());

  // Keys, while nothing is typed into.
  const focused = () => list.querySelector("details:focus-within");
  const step = (by) => {
    const cards = [...list.children];
    const next = cards[cards.indexOf(focused()) + by] ?? (by > 0 && !focused() ? cards[0] : null);
    next?.querySelector("summary").focus();
  };
  const groupOfFocused = () => {
    const at = [...list.children].indexOf(focused());
    if (at >= 0) openGroup(rows[at].run, rows[at].step, rows[at].group).catch(() => {});
  };
  const KEYS = {
    "/": () => element("text").focus(),
    j: () => step(1),
    k: () => step(-1),
    g: groupOfFocused,
    n: () => element(dialog.open ? "group-next" : "next").click(),
    p: () => element(dialog.open ? "group-previous" : "previous").click(),
  };
  document.addEventListener("keydown", (event) => {
    const isTyped = event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "Escape" && event.target === element("text")) element("text").blur();
    if (isTyped || !Object.hasOwn(KEYS, event.key)) return;
    if (dialog.open && !"np".includes(event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  const show = () => {
    const title = plain(state.heading).map((piece) => piece.textContent ?? piece).join("");
    tell("heading", title);
    document.title = `${title}: training`;
    tell("problems", state.runs.filter((run) => run.unread_lines).map((run) => `${run.label}: ${run.unread_lines} lines cannot be read`).join("; "));
    update("runs", [state.runs, state.selection], ([runs]) => runs.map((run, index) => runCard(run, index, runs.length > 1)));
    update("numbers", state.numbers, (numbers) => numbers.map((one) => node("div", "",
      node("dt", "", ...plain(one.name)), node("dd", "value", ...plain(one.value)), node("dd", "note", ...plain(one.note)))));
    showComparison();
    showFigures();
    update("events", state.events, eventRows);
    element("events-frame").hidden = !state.events.length;
    const count = state.event_count;
    tell("event-count", count > state.events.length ? `The last ${state.events.length} of ${count} events.` : count ? "" : "None.");
  };
  const refresh = async () => {
    try {
      state = await ask("state");
      tell("link", "");
      show();
      await showCompletions();
    } catch (error) {
      tell("link", `The page does not grow: ${error.message.trim()}. It goes on when reward-train view answers again.`);
    }
  };
  const follow = async () => {
    if (!document.hidden) await refresh();
    setTimeout(follow, state?.completions.left ? READING_MILLISECONDS : POLL_MILLISECONDS);
  };
  dark.addEventListener("change", () => { for (const image of visible) load(image); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  follow();
})();
