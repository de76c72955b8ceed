/**
 * Counts the work of a function: each element and character that it lets a built-in touch, and each step of a loop over
 * a list. No clock: the same input always gives the same number, on any machine.
 *
 * It replaces methods of built-ins, which makes everything slower after it. So only a process of its own uses it.
 * @module
 */

/** What a call cost. @param start Where an expression began to look */
type Price = (self: unknown, args: readonly unknown[], result: unknown, start: number) => number;

/** The engine looks at so many characters of a text while it looks at one element of a list. */
const CHARACTERS = 16;

const one: Price = () => 1;
const ofSelf: Price = (self) => lengthOf(self);
const ofResult: Price = (_self, _args, result) => lengthOf(result);
const ofFirst: Price = (_self, [text]) => lengthOf(text);
const ofText: Price = (self) => 1 + lengthOf(self) / CHARACTERS;
/** Up to what was found, or to the end. */
const ofSearch: Price = (self, [, from = 0], result) => {
  const end = typeof result === "number" && result >= 0 ? result : lengthOf(self);
  return 1 + Math.abs(end - Number(from)) / (typeof self === "string" ? CHARACTERS : 1);
};
const ofExpression: Price = (self, [text], result, start) => {
  if (Array.isArray(result))
    return 1 + Number(Reflect.get(result, "index")) + lengthOf(result[0]) - start;
  return self instanceof RegExp && self.sticky ? 1 : 1 + lengthOf(text) - start;
};

const ARRAY_METHODS =
  "map filter flatMap forEach reduce some every find findIndex includes join sort toSorted reverse toReversed concat " +
  "slice splice flat fill";
const TEXT_METHODS = "split replace replaceAll match search trim trimStart trimEnd toLowerCase";

const PRICES: readonly (readonly [owner: object, methods: string, price: Price])[] = [
  ...[[], new Map(), new Set()].map((list): [object, string, Price] => [
    Object.getPrototypeOf(list[Symbol.iterator]()),
    "next",
    one,
  ]),
  [Map.prototype, "get set has delete", one],
  [Set.prototype, "add has delete", one],
  [Set.prototype, "union", ofResult],
  [Array.prototype, ARRAY_METHODS, ofSelf],
  [Array.prototype, "indexOf lastIndexOf", ofSearch],
  [Array.prototype, "push", (_self, args) => args.length],
  [Array, "from", ofResult],
  [Object, "entries keys values fromEntries", ofResult],
  [Int32Array, "from", ofResult],
  [Int32Array.prototype, "fill", ofSelf],
  [String.prototype, TEXT_METHODS, ofText],
  [String.prototype, "indexOf includes", ofSearch],
  [RegExp.prototype, "exec", ofExpression],
  [JSON, "parse", ofFirst],
  [JSON, "stringify", ofResult],
  [Bun.YAML, "parse", ofFirst],
];

function lengthOf(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  if (value instanceof Int32Array) return value.length;
  return value instanceof Map || value instanceof Set ? value.size : 1;
}

/** Nothing is counted beyond this: some inputs would need hours. */
const WORK_MAX = 50_000_000;

/** A method as it is, and as it is while work is counted. */
interface Patch {
  readonly owner: object;
  readonly name: string;
  readonly original: unknown;
  readonly counted: unknown;
}

/** Counts what `run` does, also if it throws. */
export async function countWork(run: () => unknown): Promise<number> {
  let work = 0;
  const patches = PRICES.flatMap(([owner, methods, price]) =>
    methods.split(" ").map((name): Patch => {
      const original: unknown = Reflect.get(owner, name);
      if (typeof original !== "function") throw new Error(`There is no ${name}`);
      const counted = function (this: unknown, ...args: readonly unknown[]): unknown {
        const looksOn = this instanceof RegExp && (this.global || this.sticky);
        const start = looksOn ? this.lastIndex : 0;
        const result: unknown = Reflect.apply(original, this, args);
        work += price(this, args, result, start);
        if (work > WORK_MAX) throw new RangeError("This is too much work");
        return result;
      };
      return { owner, name, original, counted };
    }),
  );
  replaceMethods(patches, "counted");
  try {
    await run();
  } catch {
    // To refuse an input is one way to be done with it.
  } finally {
    replaceMethods(patches, "original");
  }
  return work;
}

/** Without an iterator, which is one of those that are replaced. */
function replaceMethods(patches: readonly Patch[], by: "original" | "counted"): void {
  for (let at = 0; at < patches.length; at += 1) {
    const patch = patches[at];
    if (patch === undefined) continue;
    Object.defineProperty(patch.owner, patch.name, {
      value: patch[by],
      writable: true,
      configurable: true,
    });
  }
}
