/**
 * The frame of every HTML page: head, heading, style, and the security rules for the browser.
 * @module
 */
/** @jsxImportSource hono/jsx */
import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** One page. */
export interface DocumentOptions {
  /** Title of the window. */
  readonly title: string;
  /**
   * Path from the page to `/debug/`, empty or with a slash at its end: a proxy may serve the page under another path.
   */
  readonly base: string;
  /** Whether there is a problem. The icon of the window shows it. */
  readonly isTroubled: boolean;
  /** How often the page renews itself, in seconds. */
  readonly refreshSeconds: number;
  /** Whether there are pages about load balancers. @default {false} */
  readonly hasLoadBalancers?: boolean;
  /** A `<main>`. */
  readonly main: JSX.Element;
}

/** Reload interval without the script. It is longer, because a reload may change the scroll position. */
const RELOAD_SECONDS_MIN = 30;

/** The whole document. */
export async function renderDocument(options: DocumentOptions): Promise<string> {
  const { title, base, isTroubled, refreshSeconds, hasLoadBalancers = false, main } = options;
  const reload = Math.max(RELOAD_SECONDS_MIN, refreshSeconds);
  const body = (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="brand" href={base || "./"}>
          <Logo />
          Landfall
        </a>
        {hasLoadBalancers ? (
          <nav class="places" aria-label="Pages">
            <a href={base || "./"}>Nodes</a>
            <a href={`${base}load-balancers`}>Load balancers</a>
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
          <a href={`${base}nodes`}>Nodes as JSON</a>
          <a href={`${base}nodes?format=text`}>as text</a>
          <a href={`${base}inventory`}>Inventory as JSON</a>
          {hasLoadBalancers ? (
            <a href={`${base}load-balancers?format=json`}>Load balancers as JSON</a>
          ) : null}
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

/**
 * What the browser may do: use our own style and script, by their hashes. It must not load anything from other servers,
 * embed the page in others, or cache it.
 */
export function createPageHeaders(): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src '${hash(STYLE)}'`,
    `script-src '${hash(SCRIPT)}'`,
    "connect-src 'self'",
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    vary: "Accept",
  };
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
