/**
 * Messages that a page quotes, against the code that says them.
 * @module
 */
import { listCode } from "./markdown_links.ts";
import { listSources, readSource } from "./sources.ts";

/** What {@linkcode checkQuotes} takes. */
interface QuoteOptions {
  /** Folders of the code that may say them. */
  readonly folders: readonly string[];
  /** Commands, settings and what other programs say. */
  readonly others: RegExp;
  /** What the code puts into messages. */
  readonly variables: RegExp;
}

/** How many texts with a space a page has in the type of code, and those of them that no code has. */
export async function checkQuotes(
  page: string,
  { folders, others, variables }: QuoteOptions,
): Promise<{ readonly count: number; readonly unknown: readonly string[] }> {
  const paths = (await Promise.all(folders.map((folder) => listSources(folder)))).flat();
  const code = (await Promise.all(paths.map((path) => readSource(path)))).join("\n");
  const spans = listCode(page.replaceAll(/^ *```[^]*?^ *```$/gm, ""));
  const quotes = [...new Set(spans)].filter((text) => text.includes(" ") && !others.test(text));
  const isKnown = (quote: string): boolean =>
    quote.split(variables).every((part) => code.includes(part.trim()));
  return { count: quotes.length, unknown: quotes.filter((quote) => !isKnown(quote)) };
}
