/**
 * Links, anchors and code of Markdown pages.
 * @module
 */

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
