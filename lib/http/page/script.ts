/**
 * The few lines of script that keep a page up to date. Without them the page reloads less often, and everything else
 * works.
 * @module
 */

/**
 * Fetches the page again, and changes what is different in its `<main>`: boxes stay open or closed, and focus, typed
 * text, selected text and scroll position stay. It fetches nothing while the page is hidden or paused. Every second it
 * says whether the page is up to date. If it is not, it says from when its data is, and marks the document as old: also
 * after the process ended, and after the browser froze the window.
 */
export const SCRIPT: string = `
(() => {
  const live = document.getElementById("live");
  const [told, pause] = live.children;
  const root = document.documentElement;
  const icon = document.querySelector("link[rel=icon]");
  let every = Number(root.dataset.refresh) * 1000;
  let paused = false, silent = false, asking = false, last = Date.now();
  const tell = () => {
    const late = silent || Date.now() - last > 2 * every + 5000;
    const since = "data of " + root.dataset.at;
    const text = paused ? "Paused: " + since : silent ? "No answer: " + since : late ? "Out of date: " + since : "Live";
    if (told.textContent !== text) told.textContent = text;
    const old = late && !paused;
    root.classList.toggle("old", old);
    if (old) icon.href = "data:,";
  };
  const keyOf = (one) => one.id || one.querySelector?.(":scope>th>a,:scope>a")?.getAttribute("href") || "";
  const change = (old, next) => {
    if (old.isEqualNode(next)) return;
    if (old.nodeName !== next.nodeName) return old.replaceWith(next.cloneNode(true));
    if (old.nodeType !== 1) return void (old.data = next.data);
    for (const { name } of [...old.attributes]) {
      if (!next.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const known = new Map();
    for (const child of old.childNodes) if (keyOf(child)) known.set(keyOf(child), child);
    let at = old.firstChild;
    for (const child of [...next.childNodes]) {
      const key = keyOf(child);
      let own = key ? known.get(key) : at && !keyOf(at) ? at : undefined;
      if (own && own !== at) old.insertBefore(own, at);
      if (!own) {
        old.insertBefore(child.cloneNode(true), at);
        continue;
      }
      at = own.nextSibling;
      change(own, child);
    }
    while (at) [at] = [at.nextSibling, at.remove()];
  };
  const update = async () => {
    if (paused || asking || document.hidden) return;
    asking = true;
    try {
      const signal = AbortSignal.timeout(20000);
      const reply = await fetch(location.href, { headers: { accept: "text/html" }, signal });
      const next = new DOMParser().parseFromString(await reply.text(), "text/html");
      const main = next.querySelector("main");
      if (!main || reply.status >= 500) throw new Error("no page");
      silent = false;
      if (paused) return;
      const { at, refresh } = next.documentElement.dataset;
      document.title = next.title;
      icon.href = next.querySelector("link[rel=icon]").href;
      change(document.querySelector("main"), main);
      root.dataset.at = at;
      if (refresh) every = Number(refresh) * 1000;
      last = Date.now();
    } catch {
      silent = true;
    } finally {
      asking = false;
      tell();
    }
  };
  const loop = () => setTimeout(() => update().finally(loop), every);
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Resume" : "Pause";
    tell();
    if (!paused) update();
  });
  document.addEventListener("visibilitychange", () => {
    tell();
    update();
  });
  setInterval(tell, 1000);
  live.hidden = false;
  loop();
})();
`;
