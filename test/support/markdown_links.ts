/**
 * Links, anchors and code of Markdown pages.
 * @module
 */
import { listSources, readSource } from "./sources.ts";

/** Anchors of all headings, as GitHub makes them. */
export function listAnchors(markdown: string): string[] {
  const headings = withoutCode(markdown).matchAll(/^#{1,6} (.+)$/gm);
  return [...headings].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Targets of all links that are no address: `config.md#x`, `../a.md`, `#y`. */
export function listRelativeLinks(markdown: string): string[] {
  const links = withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(([, target = ""]) => target).filter((one) => !/^[a-z]+:/.test(one));
}

/** Texts of all blocks of code in a language. */
export function listCodeBlocks(markdown: string, language: string): string[] {
  const blocks = markdown.matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm);
  return [...blocks].filter(([, , word]) => word === language).map(([, , , text = ""]) => text);
}

/** Texts in the type of code, and lines of blocks of code. */
export function listCode(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^ *```\w*\n([^]*?)^ *```$/gm)].map(([, text = ""]) => text);
  const spans = [...markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "").matchAll(/`([^`\n]+)`/g)];
  return [...blocks.flatMap((text) => text.split("\n")), ...spans.map(([, text = ""]) => text)];
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```[^]*?^ *```$/gm, "");
}

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
