/**
 * Ways to damage JSON.
 * @module
 */
import fc from "fast-check";

/** What takes the place of something. A function, so that each place gets its own. */
type Change = (before: unknown) => unknown;

/** One damage: where (numbers that lead down into the value), and what becomes of it there. */
export interface Damage {
  readonly path: readonly number[];
  readonly kind: "drop" | "replace" | "rename" | "repeat";
  readonly change: Change;
}

const ODD: readonly unknown[] = [
  null,
  "",
  " ",
  "NaN",
  "null",
  "undefined",
  "[object Object]",
  "__proto__",
  "x".repeat(100_000),
  "é\u0000\u202e\ud800",
  "2026-13-45T99:99:99Z",
  -1,
  0,
  0.5,
  1e308,
  -1e308,
  [],
  {},
  [[[[[[]]]]]],
  ["a", 1, null],
  JSON.parse('{"__proto__":{"id":"x","allowed":true},"constructor":1}'),
  JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`),
];

/** Anything odd. There is no switch among it: `false` for `true` would be a lie, not damage. */
const change: fc.Arbitrary<Change> = fc.constantFrom(...ODD).map((odd) => () => odd);

/** One damage. */
export const damage: fc.Arbitrary<Damage> = fc.record({
  path: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
  kind: fc.constantFrom("drop", "replace", "replace", "rename", "repeat"),
  change,
});

/** What a damage did. */
interface Damaged {
  readonly value: unknown;
  /** Names and numbers from the top to what was damaged; empty when nothing was. */
  readonly path: readonly string[];
}

/** Damages a copy of a value of JSON. */
export function applyDamage(whole: unknown, { path, kind, change }: Damage): Damaged {
  const value: unknown = structuredClone(whole);
  const went: string[] = [];
  let place: unknown = value;
  for (const [depth, number] of path.entries()) {
    if (typeof place !== "object" || place === null) break;
    const keys = Object.keys(place);
    const key = keys[number % Math.max(1, keys.length)];
    if (key === undefined) break;
    went.push(key);
    const inner: unknown = Reflect.get(place, key);
    const isLast = depth === path.length - 1 || typeof inner !== "object" || inner === null;
    if (!isLast) {
      place = inner;
      continue;
    }
    damageAt(place, key, inner, { kind, change });
    break;
  }
  return { value, path: went };
}

function damageAt(
  place: object,
  key: string,
  inner: unknown,
  { kind, change }: Pick<Damage, "kind" | "change">,
): void {
  if (kind === "replace") Reflect.set(place, key, change(inner));
  else if (Array.isArray(place)) {
    if (kind === "drop") place.splice(Number(key), 1);
    // The same again, with something else in it.
    else place.push(typeof inner === "object" ? { ...inner, name_label: "twice" } : inner);
  } else {
    Reflect.deleteProperty(place, key);
    if (kind !== "drop") Reflect.set(place, `${key}x`, inner);
  }
}
