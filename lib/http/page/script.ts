/**
 * The few lines of script that keep a page up to date. Without them the page reloads less often, and everything else
 * works.
 * @module
 */

/**
 * Fetches the page again and replaces its `<main>`. Boxes stay open or closed; focus and scroll position do not change.
 * It fetches nothing while the page is hidden or paused, or while the reader types or selects text.
 */
export const SCRIPT: string = `
(() => {
  const live = document.getElementById("live");
  const [told, pause] = live.children;
  const every = Number(document.documentElement.dataset.refresh) * 1000;
  let paused = false;
  const findAgain = (held) => {
    if (held.tagName === "SUMMARY") return "#" + CSS.escape(held.parentElement.id) + ">summary";
    return held.tagName === "A" ? 'a[href="' + CSS.escape(held.getAttribute("href")) + '"]' : undefined;
  };
  const isBusy = () => paused || document.hidden || getSelection().type === "Range" ||
    document.activeElement.tagName === "INPUT";
  const put = (next) => {
    for (const box of document.querySelectorAll("details[id]")) {
      const twin = next.getElementById(box.id);
      if (twin) twin.open = box.open;
    }
    const main = document.querySelector("main");
    const held = main.contains(document.activeElement) ? findAgain(document.activeElement) : undefined;
    const [x, y] = [scrollX, scrollY];
    document.title = next.title;
    document.querySelector("link[rel=icon]").href = next.querySelector("link[rel=icon]").href;
    main.replaceWith(document.adoptNode(next.querySelector("main")));
    if (held) document.querySelector("main " + held)?.focus({ preventScroll: true });
    scrollTo(x, y);
  };
  const update = async () => {
    if (isBusy()) return;
    try {
      const signal = AbortSignal.timeout(20000);
      const reply = await fetch(location.href, { headers: { accept: "text/html" }, signal });
      const next = new DOMParser().parseFromString(await reply.text(), "text/html");
      if (!next.querySelector("main")) throw new Error("no page");
      if (!isBusy()) put(next);
      told.textContent = "Live";
    } catch {
      told.textContent = "No answer: this page is out of date";
    }
  };
  const loop = () => setTimeout(() => update().finally(loop), every);
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Resume" : "Pause";
    told.textContent = paused ? "Paused" : "Live";
    if (!paused) update();
  });
  live.hidden = false;
  loop();
})();
`;
