/**
 * The few lines that keep a page fresh. Without them it reloads itself more slowly, and everything else works.
 * @module
 */

/**
 * Fetches the page again and puts its new `<main>` in place: boxes stay open or closed, focus and scroll position stay
 * where they are. Nothing is fetched while the page is hidden, paused, or somebody types or marks text in it.
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
      told.textContent = "No answer: this is an old picture";
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
