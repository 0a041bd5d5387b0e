"use strict";
// The graph around one thing: what the server gives, pushed apart and drawn as SVG.
(() => {
  const holder = document.getElementById("graph");
  if (!holder) return;
  const SVG = document.documentElement.namespaceURI.replace("1999/xhtml", "2000/svg");
  holder.hidden = false;
  // One unit is a pixel, also in a narrow window: names stay readable.
  const WIDTH = Math.max(320, Math.min(1000, holder.clientWidth)), HEIGHT = WIDTH < 600 ? 560 : 640;
  const IS_NARROW = WIDTH < 600, LETTERS = IS_NARROW ? 18 : 28, LETTER = 6.6, ROOM = LETTERS * LETTER * (IS_NARROW ? .6 : .9);
  const MOST = 300, STEPS = 220;
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
      make("title", {}, edge.line).textContent = edge.kind;
    }
    lay();
  };

  // A title says most at its beginning, a path at its end.
  const shorten = ({ kind, label }) => label.length <= LETTERS ? label
    : kind === "session" ? label.slice(0, LETTERS - 1) + "…" : "…" + label.slice(1 - LETTERS);

  const draw = (node) => {
    node.dot = make("g", { class: `node k-${node.kind}`, tabindex: node.id === holder.dataset.node ? 0 : -1,
      role: "button", "aria-label": `${node.kind} ${node.label}` }, dots);
    make("circle", { r: node.id === holder.dataset.node ? 11 : 7 }, node.dot);
    node.text = make("text", { y: 4 }, node.dot);
    node.text.textContent = shorten(node);
    make("title", {}, node.dot).textContent = `${node.label} ${spell(node.place) ?? ""}`;
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

  // A name that would lie over another is shown when its thing is pointed at.
  const name = (all) => {
    const taken = [], middle = nodes.get(holder.dataset.node);
    const order = [...all].sort((a, b) => (b === middle) - (a === middle) || a.y - b.y);
    for (const node of order) {
      const gap = node === middle ? 16 : 11, long = node.text.textContent.length * LETTER;
      const start = node === middle || node.x >= WIDTH / 2;
      let free = null;
      for (const isRight of [start, !start]) {
        const x = isRight ? node.x + gap : node.x - gap - long;
        const box = { x, y: node.y - 7, right: x + long, bottom: node.y + 7 };
        const isHit = (one, wide) => one.x - wide < box.right && box.x < (one.right ?? one.x) + wide && one.y - wide < box.bottom && box.y < (one.bottom ?? one.y) + wide;
        const isFree = x >= 0 && box.right <= WIDTH && !taken.some((one) => isHit(one, 0)) && !all.some((one) => one !== node && isHit(one, 5));
        if (isFree) { free = { box, isRight }; break; }
      }
      const isRight = free?.isRight ?? start;
      node.text.setAttribute("x", isRight ? gap : -gap);
      node.text.setAttribute("text-anchor", isRight ? "start" : "end");
      node.dot.classList.toggle("mute", !free && node !== middle);
      if (free) taken.push(free.box);
    }
  };

  const show = (node) => {
    const link = document.createElement("a");
    link.href = open(node);
    link.textContent = node.label;
    chosen.replaceChildren(link, ` ${node.kind} ${node.place === node.name ? "" : spell(node.place) ?? ""}`);
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
      cell(row, link(a)); cell(row, edge.kind); cell(row, link(b)); cell(row);
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
