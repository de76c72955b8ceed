/**
 * The frame of every HTML page: head, heading, style, and the security rules for the browser.
 * @module
 */
/** @jsxImportSource hono/jsx */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html, raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** Pages that a process may have. */
export type Place = "nodes" | "loadBalancers" | "sipClusters" | "vinos";

/** Where each is, below `/debug/`; the first one of Nodes is `/debug/` itself. */
const PLACES: Readonly<Record<Place, PlaceWords>> = {
  nodes: {
    path: "",
    title: "Nodes",
    forPrograms: [
      ["nodes", "Nodes as JSON"],
      ["nodes?format=text", "as text"],
      ["inventory", "Inventory as JSON"],
    ],
  },
  loadBalancers: {
    path: "load-balancers",
    title: "Load balancers",
    forPrograms: [["load-balancers?format=json", "Load balancers as JSON"]],
  },
  sipClusters: {
    path: "sipclusters",
    title: "SIPClusters",
    forPrograms: [["sipclusters?format=json", "SIPClusters as JSON"]],
  },
  vinos: {
    path: "vinos",
    title: "Vinos",
    forPrograms: [["vinos?format=json", "Vinos as JSON"]],
  },
};

interface PlaceWords {
  readonly path: string;
  readonly title: string;
  readonly forPrograms: readonly (readonly [path: string, title: string])[];
}

/** Where a page is, and when it is made. */
export interface PageFrame {
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
  /**
   * Path from the page to `/debug/`, empty or with a slash at its end: a proxy may serve the page under another path.
   */
  readonly base: string;
  /** The pages that there are. */
  readonly places: readonly Place[];
}

/** One page. */
interface DocumentOptions extends Pick<PageFrame, "base" | "places"> {
  /** Title of the window. */
  readonly title: string;
  /** Whether there is a problem. The icon of the window shows it. */
  readonly isTroubled: boolean;
  /** How often the page renews itself, in seconds. */
  readonly refreshSeconds: number;
  /** A `<main>`. */
  readonly main: JSX.Element;
}

/** Reload interval without the script. It is longer, because a reload may change the scroll position. */
const RELOAD_SECONDS_MIN = 30;

/** The whole document. */
export async function renderDocument(options: DocumentOptions): Promise<string> {
  const { title, base, isTroubled, refreshSeconds, places, main } = options;
  const home = toHref(base, PLACES[places[0] ?? "nodes"].path);
  const reload = Math.max(RELOAD_SECONDS_MIN, refreshSeconds);
  const body = (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="brand" href={home}>
          <Logo />
          Landfall
        </a>
        {places.length > 1 ? (
          <nav class="places" aria-label="Pages">
            {places.map((place) => (
              <a href={toHref(base, PLACES[place].path)}>{PLACES[place].title}</a>
            ))}
          </nav>
        ) : null}
        <div id="live" hidden>
          <span role="status">Live</span>
          <button type="button">Pause</button>
        </div>
      </header>
      {main}
      <footer>
        <nav aria-label="For programs">
          {places.flatMap((place) =>
            PLACES[place].forPrograms.map(([path, words]) => <a href={base + path}>{words}</a>),
          )}
        </nav>
      </footer>
    </>
  );
  // Style and script are one piece each: the formatter of this source must not add blanks to hashed text.
  const document = await html`<!doctype html>
    <html lang="en" data-refresh="${refreshSeconds}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${toIcon(isTroubled)}" />
        <noscript><meta http-equiv="refresh" content="${reload}" /></noscript>
        ${raw(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${body} ${raw(`<script>${SCRIPT}</script>`)}
      </body>
    </html> `;
  return String(document);
}

function toHref(base: string, path: string): string {
  return base + path || "./";
}

/**
 * What the browser may do: use our own style and script, by their hashes. It must not load anything from other servers,
 * embed the page in others, or cache it.
 */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    `style-src '${hash(STYLE)}'`,
    `script-src '${hash(SCRIPT)}'`,
    "connect-src 'self'",
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  vary: "Accept",
};

/** Replies with a page. */
export async function showPage(
  context: Context,
  page: string,
  status: 200 | 404 = 200,
): Promise<Response> {
  return await context.html(page, status, HEADERS);
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function Logo(): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
      <path d="M3 14 9 6l4 5 2-2.5 6 5.5" stroke-linejoin="round" stroke-linecap="round" />
      <path
        d="M2 18.5c2-1.6 3.3-1.6 5 0s3.3 1.6 5 0 3.3-1.6 5 0 3.3 1.6 5 0"
        stroke-linecap="round"
      />
    </svg>
  );
}

function toIcon(isTroubled: boolean): string {
  const shape = isTroubled
    ? `<path d="M8 1l7 14H1z" fill="#d9480f"/>`
    : `<circle cx="8" cy="8" r="6" fill="#1c8a4f"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
