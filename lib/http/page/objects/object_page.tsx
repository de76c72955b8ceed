/**
 * The frame of the page of one object, and the page for an object that is not there.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type PageFrame, renderDocument } from "../layout.tsx";

const REFRESH_SECONDS = 5;

/** The list that an object is in. */
export interface ListLink {
  readonly href: string;
  /** `All SIPClusters`. */
  readonly words: string;
}

/** What the page of an object shows. */
interface ObjectPageOptions extends Pick<PageFrame, "base" | "places"> {
  /** Name of the object, with its namespace if it has one. */
  readonly name: string;
  /** Its state in a word, for the title of the window. */
  readonly word: string;
  readonly isTroubled: boolean;
  /** The state as shape, colour and word. */
  readonly mark: JSX.Element;
  /** Why it is in this state. */
  readonly why: string;
  readonly list: ListLink;
  /** The object for programs. */
  readonly json: { readonly href: string; readonly words: string };
  readonly children: Child;
}

/** Renders the page of an object. */
export function renderObjectPage(options: ObjectPageOptions): Promise<string> {
  const { name, word, isTroubled, list, json } = options;
  const main = (
    <main id="main">
      <p class="back">
        <a href={list.href}>‹ {list.words}</a>
      </p>
      <div class="title">
        <h1 class="name">{name}</h1>
        {options.mark}
      </div>
      <p class="why soft">{options.why}</p>
      {options.children}
      <p class="more">
        <a href={json.href}>{json.words}</a>
      </p>
    </main>
  );
  return renderFrame(options, { title: `${name}: ${word} · Landfall`, isTroubled, main });
}

/** What the page says instead of an object. */
interface NoObjectPageOptions extends Pick<PageFrame, "base" | "places"> {
  /** Title of the window: `No such Node`. */
  readonly title: string;
  /** What is missing, in one sentence without a full stop. */
  readonly sentence: string;
  readonly list: ListLink;
}

/** Renders the page for an object that is not there. */
export function renderNoObjectPage(options: NoObjectPageOptions): Promise<string> {
  const { title, sentence, list } = options;
  const main = (
    <main id="main">
      <h1 class="name">{sentence}</h1>
      <p>
        <a href={list.href}>{list.words}</a>
      </p>
    </main>
  );
  return renderFrame(options, { title: `${title} · Landfall`, isTroubled: true, main });
}

function renderFrame(
  { base, places }: Pick<PageFrame, "base" | "places">,
  more: { readonly title: string; readonly isTroubled: boolean; readonly main: JSX.Element },
): Promise<string> {
  return renderDocument({ ...more, base, places, refreshSeconds: REFRESH_SECONDS });
}
