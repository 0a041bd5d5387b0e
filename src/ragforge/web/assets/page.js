"use strict";
// Everything works without this file; it makes it quicker.
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);

  // Fetch a part of a page: the server has escaped it.
  const load = async (address, signal) => {
    const response = await fetch(address, { signal, headers: { "X-Part": "1" } });
    if (!response.ok) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return [...page.body.childNodes];
  };

  // Results as one types: one request after a pause, and only the last one counts. Until it is
  // answered, old results are marked as such, and keys do not lead to them. The words of the
  // address follow, so that Back and reload work.
  const PAUSE = 200;
  const form = $("form[data-live]"), target = form && $("#" + form.dataset.live), state = $(".state");
  const isBusy = () => target?.getAttribute("aria-busy") === "true";
  let wantsFirst = false;
  if (form) {
    let waiting = 0, running = null;
    const stop = () => { clearTimeout(waiting); running?.abort(); };
    const finish = (nodes, text) => {
      target.replaceChildren(...nodes);
      target.removeAttribute("aria-busy");
      state.textContent = text ?? "";
      if (wantsFirst) $("a.row", target)?.focus();
      wantsFirst = false;
    };
    const update = async () => {
      stop();
      const mine = running = new AbortController();
      const address = form.action.split("?")[0] + "?" + new URLSearchParams(new FormData(form));
      try {
        const nodes = await load(address, mine.signal);
        finish(nodes, nodes.find((node) => node.id === "found")?.textContent);
        history.replaceState(null, "", address);
      } catch (error) {
        if (!mine.signal.aborted) finish([], state.dataset.failed);
      }
    };
    form.addEventListener("input", () => {
      stop();
      wantsFirst = false;
      target.setAttribute("aria-busy", "true");
      state.textContent = state.dataset.state;
      waiting = setTimeout(update, PAUSE);
      const shown = $("output", form), range = $("input[type=range]", form);
      if (shown && range) shown.value = Number(range.value).toLocaleString(document.documentElement.lang);
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); if (isBusy()) update(); });
  }

  // A choice applies at once; without scripts there is a button.
  $("form[data-apply]")?.addEventListener("change", (event) => event.currentTarget.requestSubmit());

  // The caret stands behind what was typed.
  const box = $("input[autofocus]");
  if (box && box.value) box.setSelectionRange(box.value.length, box.value.length);

  // Later turns come as they are scrolled to.
  const watcher = "IntersectionObserver" in window && new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      const holder = entry.target.parentElement;
      load(entry.target.href).then((nodes) => { holder.replaceWith(...nodes); watch(); })
        .catch(() => {});
    }
  }, { rootMargin: "800px" });
  const watch = () => watcher && document.querySelectorAll("a[data-more]").forEach((a) => watcher.observe(a));
  watch();

  // A session that still runs grows while it is read.
  const session = $("[data-follow]");
  if (session) setInterval(async () => {
    if (document.hidden || $("a[data-more]")) return;
    const last = [...document.querySelectorAll(".turn")].pop();
    const from = last ? last.dataset.turn : "0";
    try {
      const part = document.createElement("div");
      part.append(...await load(`${session.dataset.follow}?from=${from}`));
      const fresh = part.querySelectorAll(".turn");
      if (fresh.length === 0) return;
      if (last && fresh.length === 1 && fresh[0].textContent === last.textContent) return;
      if (last && last.querySelector("details[open]") && fresh.length === 1) return;
      last?.remove();
      session.append(...part.childNodes);
      watch();
    } catch { /* the server has ended, or the store is away: try again */ }
  }, 3000);

  // Sessions that begin or go on appear while their list is looked at.
  const list = $("[data-refresh]");
  const sign = (from) => [...from.querySelectorAll("a.row")].map((row) =>
    row.href + [".title", ".said", ".facts"].map((part) => $(part, row)?.textContent).join()).join();
  if (list) setInterval(async () => {
    if (document.hidden || $("form[data-live] input[type=search]")?.value) return;
    try {
      const fresh = document.createElement("div"), focused = document.activeElement?.href;
      fresh.append(...await load(location.href));
      if (sign(fresh) === sign(list) || $("form[data-live] input[type=search]")?.value) return;
      list.replaceChildren(...fresh.childNodes);
      if (focused) [...list.querySelectorAll("a.row")].find((row) => row.href === focused)?.focus();
    } catch { /* try again */ }
  }, 4000);

  // In a narrow window the pages are a line to be scrolled.
  $(".top nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

  // Keys: / searches, arrows walk through results, Enter opens, ? helps.
  const help = $("#keys");
  $("#keys-button")?.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    const field = event.target.closest("input, select, textarea");
    const isText = field && field.type !== "range";
    if (event.key === "Escape" && field) { field.blur(); return; }
    if (event.key === "/" && !isText) {
      event.preventDefault();
      const box = $("input[type=search]");
      if (box) { box.focus(); box.select(); } else location.href = document.documentElement.dataset.base + "/search";
      return;
    }
    if (event.key === "?" && !isText && help) { event.preventDefault(); help.showModal(); return; }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    if (field && field.type !== "search") return;
    if (field && isBusy()) {
      event.preventDefault();
      wantsFirst = event.key === "ArrowDown";
      return;
    }
    const rows = [...document.querySelectorAll("a.row")];
    if (rows.length === 0) return;
    const at = rows.indexOf(document.activeElement);
    if (at < 0 && !field) return;
    event.preventDefault();
    const next = event.key === "ArrowDown" ? at + 1 : at - 1;
    if (next < 0) $("input[type=search]")?.focus();
    else rows[Math.min(next, rows.length - 1)].focus();
  });
})();
