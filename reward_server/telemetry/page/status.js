"use strict";
// Reads /status.json again and again. Whatever it holds reaches the page as text, never as markup.

const POLL_MILLISECONDS = 2000;
const KEPT_SECONDS = 300;
const RATE_SECONDS = 60;
const SVG = "http://www.w3.org/2000/svg";
const history = [];

const place = (id) => document.getElementById(id);
const sum = (counts) => Object.values(counts).reduce((total, one) => total + one, 0);

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text !== null) made.textContent = text;
  made.append(...children);
  return made;
}

function number(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = value !== 0 && Math.abs(value) < 10 && !Number.isInteger(value) ? 2 : 0;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${number(seconds)} s`;
}

function mebibytes(bytes) {
  return `${number(bytes / 1048576)} MiB`;
}

function before(seconds) {
  const since = history.at(-1).at - seconds;
  return history.find((one) => one.at >= since);
}

function rate(read) {
  const last = history.at(-1), first = before(RATE_SECONDS);
  if (last === first) return NaN;
  return Math.max(read(last.figures) - read(first.figures), 0) / (last.at - first.at);
}

// A quantile of a cumulative histogram, with straight lines between its bounds.
function quantile(share, buckets) {
  const bounds = Object.keys(buckets)
    .map((text) => [text === "+Inf" ? Infinity : Number(text), buckets[text]])
    .sort((one, other) => one[0] - other[0]);
  if (!bounds.length || !bounds.at(-1)[1]) return NaN;
  const wanted = share * bounds.at(-1)[1];
  let low = 0, below = 0;
  for (const [bound, count] of bounds) {
    if (count >= wanted) {
      if (bound === Infinity) return low;
      return low + (bound - low) * (count > below ? (wanted - below) / (count - below) : 1);
    }
    [low, below] = [bound, count];
  }
  return low;
}

function recent(name) {
  const now = history.at(-1).figures[name], then = before(KEPT_SECONDS).figures[name];
  const found = {};
  for (const bound of Object.keys(now)) found[bound] = Math.max(now[bound] - (then[bound] ?? 0), 0);
  return sum(found) > 0 ? found : now;
}

function tiles(pairs) {
  place("tiles").replaceChildren(...pairs.map(([label, value]) => {
    const tile = element("div", null, element("b", value), element("span", label));
    tile.className = "tile";
    return tile;
  }));
}

function shares(id, counts, none) {
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  rows.sort((one, other) => other[1] - one[1]);
  const total = sum(counts);
  const body = rows.map(([name, count]) => {
    const fill = element("b", null);
    fill.style.width = `${(100 * count) / total}%`;
    const bar = element("td", null, element("i", null, fill));
    bar.className = "bar";
    const share = `${((100 * count) / total).toFixed(1)} %`;
    return element("tr", null, element("td", name), bar, element("td", number(count)), element("td", share));
  });
  place(id).replaceChildren(...(rows.length ? body : [element("tr", null, element("td", none))]));
}

function pairs(id, rows) {
  place(id).replaceChildren(...rows.map(([name, value]) =>
    element("tr", null, element("td", name), element("td", value))));
}

function latency(figures) {
  const head = element("tr", null, ...["", "p50", "p95", "p99"].map((text) => element("th", text)));
  const rows = [["RPC", "call_seconds"], ["Waiting for a slot", "queue_seconds"],
    ["Execution", "execution_seconds"]].map(([label, name]) => {
    const found = recent(name);
    return element("tr", null, element("td", label),
      ...[0.5, 0.95, 0.99].map((share) => element("td", duration(quantile(share, found)))));
  });
  place("latency").replaceChildren(element("thead", null, head), element("tbody", null, ...rows));
  place("latency-window").textContent =
    "Of the last five minutes, or since the server started if nothing came since this page was opened.";
}

function line(id, values) {
  const most = Math.max(...values.filter(Number.isFinite), 1);
  const svg = place(id), step = 100 / Math.max(values.length - 1, 1);
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  const ground = document.createElementNS(SVG, "line");
  for (const [name, value] of [["x1", 0], ["x2", 100], ["y1", 99], ["y2", 99]]) ground.setAttribute(name, value);
  const drawn = document.createElementNS(SVG, "polyline");
  const points = values.map((value, index) => `${index * step},${99 - 94 * ((value || 0) / most)}`);
  drawn.setAttribute("points", points.join(" "));
  svg.replaceChildren(ground, drawn);
  let scale = svg.nextElementSibling;
  if (!scale) {
    scale = element("p", null);
    scale.className = "scale";
    svg.after(scale);
  }
  scale.textContent = `now ${number(values.at(-1))}, highest ${number(Math.max(...values.map((one) => one || 0)))}`;
}

function processes(figures) {
  const again = figures.process_starts - figures.processes;
  return [`processes that answer, ${number(again)} started again`,
    `${number(figures.processes_up)} of ${number(figures.processes)}`];
}

function show() {
  const { figures } = history.at(-1);
  const judged = (one) => sum(one.verdicts);
  const obstacles = figures.obstacles;
  const walls = figures.missing_walls;
  place("build").textContent = figures.builds.map((one) => Object.values(one).join(", ")).join("; ");
  place("state").textContent = obstacles.length ? `Not ready: ${obstacles.join(", ")}` : "Ready";
  place("state").className = obstacles.length ? "bad" : "";
  const state = figures.sandboxes;
  tiles([
    ["verdicts per second", number(rate(judged))],
    ["slots in use", `${number(figures.running)} of ${number(figures.slots)}`],
    ["waiting for a slot", number(figures.waiting)],
    ["longest present wait", duration(figures.oldest_waiting_seconds)],
    ["submissions admitted", `${number(figures.admitted)} of ${number(figures.slots + figures.queue_capacity)}`],
    ["RPC, p95", duration(quantile(0.95, recent("call_seconds")))],
    ["sandboxes idle, lent", `${number(state.idle ?? 0)}, ${number(state.lent ?? 0)}`],
    ["connections", number(figures.connections)],
    ...(figures.processes ? [processes(figures)] : []),
  ]);
  line("throughput", history.slice(1).map((one, index) =>
    Math.max(judged(one.figures) - judged(history[index].figures), 0) / (one.at - history[index].at)));
  line("queue", history.map((one) => one.figures.waiting));
  latency(figures);
  shares("verdicts", figures.verdicts, "Nothing was judged.");
  shares("signals", figures.hack_signals, "None was seen.");
  shares("refusals", figures.refusals, "Nothing was refused.");
  shares("limits", figures.limits, "No limit was hit.");
  shares("languages", figures.executions, "Nothing ran.");
  const closed = figures.sandboxes_closed;
  pairs("sandboxes", [
    ["started", number(figures.sandboxes_started)],
    ["failed to start", number(figures.sandbox_start_failures)],
    ["lost (failed or died)", number((closed.failed ?? 0) + (closed.died ?? 0))],
    ["closed after trouble of a program", number(closed.troubled ?? 0)],
    ["closed after a cancelled call", number(closed.cancelled ?? 0)],
    ["replaced when worn", number(closed.worn ?? 0)],
    ["executions run again", number(sum(figures.retries))],
    ["protections waived", walls.length ? walls.join(", ") : "none"],
  ]);
  place("sessions-section").hidden = !figures.session_memory_capacity;
  const ended = figures.sessions_ended;
  pairs("sessions", [
    ["open", number(figures.sessions.open ?? 0)],
    ["warm sandboxes", number(figures.sessions.warm ?? 0)],
    ["memory taken", `${mebibytes(figures.session_memory)} of ${mebibytes(figures.session_memory_capacity)}`],
    ["commands that run", number(figures.session_commands_running)],
    ["opened", number(figures.sessions_opened)],
    ["commands so far", number(figures.session_commands)],
    ["ended by their lifetime, by their idle limit",
      `${number(ended.expired ?? 0)}, ${number(ended.idle ?? 0)}`],
    ["lost", number(ended.lost ?? 0)],
  ]);
  const tenants = Object.keys(figures.tenants).length > 0;
  place("tenants-section").hidden = !tenants;
  if (tenants) shares("tenants", figures.tenants, "");
}

async function poll() {
  try {
    const answer = await fetch("status.json", { cache: "no-store" });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    history.push({ at: performance.now() / 1000, figures: await answer.json() });
    while (history[0].at < history.at(-1).at - KEPT_SECONDS) history.shift();
    show();
  } catch (error) {
    place("state").textContent = "No answer from the server";
    place("state").className = "bad";
  }
  setTimeout(poll, POLL_MILLISECONDS);
}

poll();
