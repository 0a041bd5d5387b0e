"use strict";
// Everything works without this file; it makes it quicker.
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);

  // Fetch a part of a page: the server has escaped it.
  const load = async (address, signal, more = {}) => {
    const response = await fetch(address, { signal, headers: { "X-Part": "1", ...more } });
    if (!response.ok) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return [...page.body.childNodes];
  };

  // Results as one types: by words at once, by meaning when one pauses, for that may ask a model.
  // The words of the address follow, so that Back and reload work.
  const form = $("form[data-live]");
  if (form) {
    const target = $("#" + form.dataset.live);
    const isSearch = form.getAttribute("role") === "search";
    let waiting = 0, running = null;
    const update = (headers = {}) => {
      const query = new URLSearchParams(new FormData(form)).toString();
      const address = form.action.split("?")[0] + "?" + query;
      running?.abort();
      running = new AbortController();
      load(address, running.signal, headers).then((nodes) => {
        const fresh = document.createElement("div");
        fresh.append(...nodes);
        if (fresh.innerHTML !== target.innerHTML) target.replaceChildren(...fresh.childNodes);
        history.replaceState(null, "", address);
      }).catch((error) => {
        if (error.name !== "AbortError") target.dataset.failed = "1";
      });
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      if (isSearch) update({ "X-Words": "1" });
      waiting = setTimeout(update, isSearch ? 90 : 120);
      const shown = $("output", form), range = $("input[type=range]", form);
      if (shown && range) shown.value = Number(range.value).toLocaleString();
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); update(); });
  }

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
