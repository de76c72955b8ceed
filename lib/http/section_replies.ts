/**
 * Replies that are sections: a page for browsers, the data for programs, tables for terminals.
 * @module
 */
import type { Context } from "hono";
import { type PageFrame, showPage } from "./page/layout.tsx";
import type { Section } from "./page/model.ts";
import { renderPlainPage } from "./page/object_page.tsx";
import { showEither, showView } from "./replies.ts";
import { formatSections } from "./text_table.ts";

/** What is shown. */
interface ShownSections {
  readonly title: string;
  /** Below `/debug/`. */
  readonly path: string;
  /** The data. */
  readonly view: object;
  /** The same for people. */
  readonly sections: readonly Section[];
}

/** Replies in the form that the request asks for. */
export function showSections(
  context: Context,
  frame: PageFrame,
  shown: ShownSections,
): Promise<Response> {
  const { view, sections } = shown;
  return showEither(context, {
    toPage: async () => showPage(context, await renderPlainPage(shown, frame)),
    toData: () => showView(context, view, () => formatSections(sections)),
  });
}
