"use strict";
// The graph around one thing: what the server gives, pushed apart and drawn as SVG.
(() => {
  const holder = document.getElementById("graph");
  if (!holder) return;
  const SVG = document.documentElement.namespaceURI.replace("1999/xhtml", "2000/svg");
  holder.hidden = false;
  // One unit is a pixel, also in a narrow window: names stay readable.
  const WIDTH = Math.max(320, Math.min(1000, holder.clientWidth)), HEIGHT = WIDTH < 600 ? 560 : 640;
  const IS_NARROW = WIDTH < 600, LETTERS = IS_NARROW ? 16 : 24, ROOM = IS_NARROW ? 62 : 150;
  const MOST = 300, STEPS = 220, LINES = 3, LINE = 14;
  const texts = JSON.parse(holder.dataset.texts), say = (word) => texts[word] ?? word;
  const base = document.documentElement.dataset.base;
  const picture = holder.querySelector("svg"), chosen = document.getElementById("graph-chosen");
  picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const nodes = new Map(), edges = new Map(), grown = new Set();
  const make = (name, values, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
    parent?.append(element);
    return element;
  };
  const lines = make("g", {}, picture), dots = make("g", {}, picture);
  const open = (node) => node.kind === "session"
    ? `${base}/sessions/${encodeURIComponent(node.place)}`
    : `${base}/code?name=${encodeURIComponent(node.place || node.name)}`;

  // What cannot be seen is spelt out, as on the rest of the page; joiners belong to emoji and scripts.
  const spell = (text) => text?.replace(/(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu,
    (one) => `<U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);

  const add = (graph) => {
    const center = nodes.get(graph.center);
    const fresh = graph.nodes.filter((one) => !nodes.has(one.id)).slice(0, MOST - nodes.size);
    // Things of a kind stand side by side.
    fresh.sort((a, b) => (b.id === graph.center) - (a.id === graph.center) || a.kind.localeCompare(b.kind));
    for (const [at, one] of fresh.entries()) {
      const angle = 2 * Math.PI * at / fresh.length, far = one.id === graph.center ? 0 : 60 + 40 * (at % 3);
      const x = (center?.x ?? WIDTH / 2) + far * Math.cos(angle);
      const y = (center?.y ?? HEIGHT / 2) + far * Math.sin(angle);
      nodes.set(one.id, { ...one, name: one.label, label: spell(one.label), x, y, dx: 0, dy: 0 });
    }
    for (const one of graph.edges) {
      const key = `${one.source} ${one.kind} ${one.target}`;
      if (nodes.has(one.source) && nodes.has(one.target)) edges.set(key, edges.get(key) ?? { ...one });
    }
    grown.add(graph.center);
    for (const node of nodes.values()) if (!node.dot) draw(node);
    // The thing itself lies over all others.
    if (nodes.has(holder.dataset.node)) dots.append(nodes.get(holder.dataset.node).dot);
    for (const edge of edges.values()) {
      if (edge.line) continue;
      edge.line = make("line", { class: "edge" }, lines);
      make("title", {}, edge.line).textContent = say(edge.kind);
    }
    lay();
  };

  // A long name is broken where a word or a part of a path ends. If it is still too long, the end
  // of a title is left out, for it says most at its beginning; of a path, the beginning.
  const wrap = ({ kind, label }) => {
    const lines = [];
    for (const part of label.match(/[^\s/._-]{1,12}[\s/._-]*|[\s/._-]+/g) ?? [label]) {
      const last = lines.length - 1;
      if (last >= 0 && (lines[last] + part.trimEnd()).length <= LETTERS) lines[last] += part;
      else lines.push(part);
    }
    if (lines.length <= LINES) return lines;
    if (kind === "session") return [...lines.slice(0, LINES - 1), lines[LINES - 1].trimEnd() + "…"];
    return ["…" + lines.at(-LINES), ...lines.slice(1 - LINES)];
  };

  const draw = (node) => {
    node.dot = make("g", { class: `node k-${node.kind}`, tabindex: node.id === holder.dataset.node ? 0 : -1,
      role: "button", "aria-label": `${say(node.kind)} ${node.label}` }, dots);
    make("circle", { r: node.id === holder.dataset.node ? 11 : 7 }, node.dot);
    node.text = make("text", {}, node.dot);
    const lines = wrap(node);
    for (const [at, line] of lines.entries()) make("tspan", { x: 0, y: at * LINE }, node.text).textContent = line;
    node.wide = node.text.getBBox().width;
    node.high = lines.length * LINE;
    make("title", {}, node.dot).textContent = node.kind === "session" ? node.label : `${node.label} ${spell(node.place) ?? ""}`;
    node.dot.addEventListener("click", () => choose(node));
    node.dot.addEventListener("focus", () => show(node));
  };

  // Things push each other away, edges pull together, and the middle holds all.
  const lay = () => {
    const all = [...nodes.values()], cool = 1 / STEPS, ideal = Math.min(130, Math.sqrt(WIDTH * HEIGHT / (all.length + 1)) * .62);
    for (let step = 0; step < STEPS; step++) {
      for (const node of all) { node.dx = (WIDTH / 2 - node.x) * .02; node.dy = (HEIGHT / 2 - node.y) * .03; }
      for (let i = 0; i < all.length; i++) for (let j = i + 1; j < all.length; j++) {
        const a = all[i], b = all[j], x = a.x - b.x || .1, y = a.y - b.y || .1;
        const push = ideal * ideal / (x * x + y * y + 1) * .9;
        a.dx += x * push; a.dy += y * push; b.dx -= x * push; b.dy -= y * push;
      }
      for (const edge of edges.values()) {
        const a = nodes.get(edge.source), b = nodes.get(edge.target), x = b.x - a.x, y = b.y - a.y;
        const pull = Math.hypot(x, y) / ideal * .35;
        a.dx += x * pull; a.dy += y * pull; b.dx -= x * pull; b.dy -= y * pull;
      }
      const most = 40 * (1 - step * cool) + 1;
      for (const node of all) {
        const far = Math.hypot(node.dx, node.dy) || 1, move = Math.min(far, most) / far;
        node.x += node.dx * move;
        node.y += node.dy * move;
      }
    }
    fit(all);
    name(all);
    for (const node of all) node.dot.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);
    for (const { line, source, target } of edges.values()) {
      const a = nodes.get(source), b = nodes.get(target);
      for (const [key, value] of [["x1", a.x], ["y1", a.y], ["x2", b.x], ["y2", b.y]]) line.setAttribute(key, value.toFixed(1));
    }
  };

  // All of the picture is used, with room for names on both sides.
  const fit = (all) => {
    for (const [axis, size, room] of [["x", WIDTH, ROOM], ["y", HEIGHT, 18]]) {
      const values = all.map((node) => node[axis]), least = Math.min(...values), span = Math.max(...values) - least;
      const scale = span > 1 ? Math.min((size - 2 * room) / span, 2.2) : 1, middle = least + span / 2;
      for (const node of all) node[axis] = size / 2 + (node[axis] - middle) * scale;
    }
  };

  // A name stands where there is room: at a side of its node, below or above it. One that would
  // lie over another is shown when its node is pointed at.
  const name = (all) => {
    const taken = [], middle = nodes.get(holder.dataset.node);
    const order = [...all].sort((a, b) => (b === middle) - (a === middle) || a.y - b.y);
    const isHit = (one, other) => one.x < other.right && other.x < one.right && one.y < other.bottom && other.y < one.bottom;
    const around = (node) => ({ x: node.x - 8, y: node.y - 8, right: node.x + 8, bottom: node.y + 8 });
    const fits = (box, node) => box.x >= 4 && box.right <= WIDTH - 4 && box.y >= 2 && box.bottom <= HEIGHT - 2
      && !taken.some((one) => isHit(one, box)) && !all.some((one) => one !== node && isHit(around(one), box));
    for (const node of order) {
      const gap = node === middle ? 15 : 11, { x, y, wide, high } = node;
      const place = (anchor, left, top) => ({ anchor, x: left, y: top, right: left + wide, bottom: top + high });
      const sides = [place("start", x + gap, y - high / 2), place("end", x - gap - wide, y - high / 2)];
      if (node !== middle && x < WIDTH / 2) sides.reverse();
      const above = place("middle", x - wide / 2, y - gap - high), below = place("middle", x - wide / 2, y + gap);
      const ends = y < HEIGHT / 2 ? [above, below] : [below, above];
      const free = [...sides, ...ends].find((box) => fits(box, node));
      const box = free ?? { ...below, x: Math.max(4, Math.min(WIDTH - 4 - wide, below.x)) };
      const start = { start: box.x, middle: box.x + wide / 2, end: box.x + wide }[box.anchor];
      node.text.setAttribute("transform", `translate(${(start - x).toFixed(1)} ${(box.y - y + LINE - 3).toFixed(1)})`);
      node.text.setAttribute("text-anchor", box.anchor);
      node.dot.classList.toggle("mute", !free && node !== middle);
      if (free || node === middle) taken.push(box);
    }
  };

  const show = (node) => {
    const link = document.createElement("a");
    link.href = open(node);
    link.textContent = node.label;
    chosen.replaceChildren(link, ` ${say(node.kind)} ${node.kind === "session" || node.place === node.name ? "" : spell(node.place) ?? ""}`);
    for (const one of nodes.values()) one.dot.setAttribute("tabindex", one === node ? 0 : -1);
    const near = new Set([node.id]);
    for (const { source, target, line } of edges.values()) {
      const is = source === node.id || target === node.id;
      line.classList.toggle("near", is && node.id !== holder.dataset.node);
      if (is) near.add(source).add(target);
    }
    for (const one of nodes.values()) one.dot.classList.toggle("near", one === node || node.id !== holder.dataset.node && near.has(one.id));
  };

  const load = async (id) => {
    const response = await fetch(`${holder.dataset.address}?node=${encodeURIComponent(id)}`);
    if (response.ok) add(await response.json());
  };
  const choose = async (node) => {
    node.dot.focus();
    if (!grown.has(node.id) && node.kind !== "library") await load(node.id).catch(() => {});
    list();
    show(node);
  };

  // What was added stands in the list too.
  const list = () => {
    const rows = document.getElementById("graph-list");
    const cell = (row, ...what) => { const td = document.createElement("td"); td.append(...what); row.append(td); };
    const link = (node) => { const a = document.createElement("a"); a.href = open(node); a.textContent = node.label; return a; };
    for (const edge of edges.values()) {
      const ends = [edge.source, edge.target];
      if (edge.isListed || ends.includes(holder.dataset.node)) continue;
      edge.isListed = true;
      const row = document.createElement("tr"), [a, b] = ends.map((id) => nodes.get(id));
      cell(row, link(a)); cell(row, say(edge.kind)); cell(row, link(b)); cell(row);
      rows.append(row);
    }
  };

  // Arrows move to the nearest thing in their direction; Enter shows more.
  const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  picture.addEventListener("keydown", (event) => {
    const at = [...nodes.values()].find((node) => node.dot === document.activeElement);
    if (!at) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(at); return; }
    const way = ways[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    let best = null, least = Infinity;
    for (const node of nodes.values()) {
      const x = node.x - at.x, y = node.y - at.y, ahead = x * way[0] + y * way[1];
      const cost = Math.hypot(x, y) + 2 * Math.abs(x * way[1] + y * way[0]);
      if (node !== at && ahead > 0 && cost < least) { best = node; least = cost; }
    }
    best?.dot.focus();
  });

  const find = document.getElementById("graph-find");
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const node of nodes.values()) node.dot.classList.toggle("off", !!wanted && !node.label.toLowerCase().includes(wanted));
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    [...nodes.values()].find((node) => find.value && !node.dot.classList.contains("off"))?.dot.focus();
  });

  load(holder.dataset.node).then(() => { const node = nodes.get(holder.dataset.node); if (node) show(node); }).catch(() => {});
})();
