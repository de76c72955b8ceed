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

/** A list of objects that has a page. */
export interface Place {
  /** Below `/debug/`; that of Nodes is empty. */
  readonly path: string;
  readonly title: string;
  /** The same for programs. */
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
  /** Of the program. */
  readonly version: string;
}

/** One page. */
interface DocumentOptions extends PageFrame {
  /** Title of the window. */
  readonly title: string;
  /** Whether there is a problem. The icon of the window shows it. */
  readonly isTroubled: boolean;
  /** How often the page renews itself, in seconds. @default {it does not, and has no script} */
  readonly refreshSeconds?: number;
  /** Path of the place that the page belongs to. @default {none} */
  readonly current?: string;
  /** Whether the page is one of an object of that place. @default {false} */
  readonly isBelow?: boolean;
  /** A `<main>`. */
  readonly main: JSX.Element;
}

/** Reload interval without the script. It is longer, because a reload may change the scroll position. */
const RELOAD_SECONDS_MIN = 30;

/** The whole document. */
export async function renderDocument(options: DocumentOptions): Promise<string> {
  const { title, base, isTroubled, refreshSeconds, places, main, nowMs } = options;
  const home = base + (places[0]?.path ?? "") || "./";
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
        <Places {...options} />
        {refreshSeconds === undefined ? null : (
          <div id="live" hidden>
            <span role="status">Live</span>
            <button type="button">Pause</button>
          </div>
        )}
      </header>
      {main}
      <footer>
        <nav aria-label="For programs">
          {places.flatMap(({ forPrograms }) =>
            forPrograms.map(([path, words]) => <a href={base + path}>{words}</a>),
          )}
          <a href={`${base}process`}>This process</a>
        </nav>
        <p>
          Landfall {options.version}. Its guides are in <code>docs/guides</code> of this version:{" "}
          <code>troubleshooting.md</code> says what to do about each problem.
        </p>
      </footer>
    </>
  );
  const reload = Math.max(RELOAD_SECONDS_MIN, refreshSeconds ?? 0);
  const meta = `<noscript><meta http-equiv="refresh" content="${reload}" /></noscript>`;
  // Style and script are one piece each: the formatter of this source must not add blanks to hashed text.
  const document = await html`<!doctype html>
    <html lang="en" data-refresh="${refreshSeconds ?? ""}" data-at="${toTime(nowMs)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${toIcon(isTroubled)}" />
        ${refreshSeconds === undefined ? "" : raw(meta)} ${raw(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${body} ${refreshSeconds === undefined ? "" : raw(`<script>${SCRIPT}</script>`)}
      </body>
    </html> `;
  return String(document);
}

/** Links to the places, if there are several. */
function Places({ places, base, current, isBelow = false }: DocumentOptions): JSX.Element | null {
  if (places.length < 2) return null;
  return (
    <nav class="places" aria-label="Pages">
      {places.map(({ path, title }) => (
        <a
          href={base + path || "./"}
          aria-current={path === current ? (isBelow ? "true" : "page") : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** The top of a list: what is to say about all, and a search beside it. */
export function ListHead({
  heading,
  subtitle,
  action,
  label,
  query,
}: {
  readonly heading: string;
  readonly subtitle: string;
  /** Path of the list. */
  readonly action: string;
  /** What the search finds. */
  readonly label: string;
  readonly query: string;
}): JSX.Element {
  return (
    <div class="lead">
      <div>
        <h1>{heading}</h1>
        <p>{subtitle}</p>
      </div>
      <form role="search" action={action || "./"}>
        <input type="search" name="q" value={query} aria-label={label} placeholder={label} />
        <button type="submit">Find</button>
      </form>
    </div>
  );
}

/** `12:03:05 UTC` */
export function toTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
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

/** Renders the page for a path that leads nowhere. */
export function renderNotFound(frame: PageFrame): Promise<string> {
  const { base, places } = frame;
  const links = places.length > 0 ? places : [{ path: "process", title: "This process" }];
  const main = (
    <main id="main">
      <h1>There is no such page</h1>
      <p class="soft">The address has a mistake, or this process does not have the page.</p>
      <ul class="links">
        {links.map(({ path, title }) => (
          <li>
            <a href={base + path || "./"}>{title}</a>
          </li>
        ))}
      </ul>
    </main>
  );
  const title = "No such page · Landfall";
  return renderDocument({ ...frame, title, isTroubled: true, main });
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
