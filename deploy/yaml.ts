/**
 * Objects as YAML with comments.
 * @module
 */
import { Document, isMap, isNode, isScalar, type Node, type Pair, visit, type YAMLSeq } from "yaml";

/** Comments by the path of the field below them: `spec.template.spec.containers.0.ports`. */
export type Comments = Readonly<Record<string, string>>;

/** Comments of a part of an object, by their paths in the whole object. @param prefix `spec.` */
export function under(prefix: string, comments: Comments): Comments {
  return Object.fromEntries(
    Object.entries(comments).map(([path, text]) => [`${prefix}${path}`, text]),
  );
}

const LINE_WIDTH = 100;
const SHORT_LIST = 50;

/**
 * Writes objects as one file of YAML documents.
 *
 * @param head Comment above all of them
 * @throws Error when the path of a comment does not exist
 */
export function toYamlFile(head: string, documents: readonly string[]): string {
  return `${toComment(head)}${documents.join("---\n")}`;
}

/** Writes one object as YAML. */
export function toYaml(object: unknown, comments: Comments = {}): string {
  const document = new Document(object, { aliasDuplicateObjects: false });
  visit(document, { Seq: (_, list) => shorten(list) });
  for (const [path, text] of Object.entries(comments)) addComment(document, path.split("."), text);
  return document.toString({ lineWidth: LINE_WIDTH, flowCollectionPadding: false });
}

/** Text as lines of comment. */
export function toComment(text: string): string {
  return text
    .split("\n")
    .map((line) => `${`# ${line}`.trimEnd()}\n`)
    .join("");
}

/** Writes a short list on one line. */
function shorten(list: YAMLSeq): void {
  const words = list.items.map((item) => (isScalar(item) ? String(item.value) : undefined));
  if (words.length > 0 && words.every((word) => word !== undefined)) {
    list.flow = words.join().length <= SHORT_LIST;
  }
}

function addComment(document: Document, path: readonly string[], text: string): void {
  findNode(document, path).commentBefore = text
    .split("\n")
    .map((line) => (line === "" ? "" : ` ${line}`))
    .join("\n");
}

/** The key of a map or the item of a list. A comment above it gets its own line. */
function findNode(document: Document, path: readonly string[]): Node {
  const parent = document.getIn(path.slice(0, -1), true);
  const last = path.at(-1) ?? "";
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }: Pair) => isScalar(key) && key.value === last);
    if (pair !== undefined && isScalar(pair.key)) return pair.key;
  }
  const item = document.getIn(path, true);
  if (!isNode(item)) throw new Error(`Cannot comment ${path.join(".")}: it is not there`);
  return item;
}
