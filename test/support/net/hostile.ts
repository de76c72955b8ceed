/**
 * What tests of bad input share: secrets to look for, names that break things, a clock for work.
 * @module
 */
import process from "node:process";
import fc from "fast-check";

/** Processor time of this process while something runs, in milliseconds: a busy machine does not change it. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Texts that mean something to a terminal, a page, a path, an object, a parser or a reader. */
export const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "<script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "&lt;b&gt;",
  "\u001b[31mred\u001b[0m\u001b]0;title\u0007",
  "\u009b31m",
  "a\nlevel=error b\r\nc\0d",
  "\u202egnp.exe\u202c\u2066x\u2069\u200f",
  "\u2028\u2029\ufeff",
  "\ud800 alone \udc00",
  "../../../etc/passwd",
  "%00%2e%2e/%ff",
  "null",
  "[object Object]",
  "-1e999",
  "\u0000",
  "é".repeat(300),
  "a".repeat(253),
  "x".repeat(20_000),
  "\t\v\f",
  "${jndi:ldap://a}",
  "{{7*7}}",
  "'; DROP TABLE nodes; --",
];

/** Any character. For its unit "binary", fast-check first lists all of them, which takes 1.6 s and 160 MB. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + 0x800));

/** Hostile texts, and any others. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
);

/** What may stand anywhere by mistake or malice: any JSON, with keys that objects have already. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, [], {}, [null], [[]], { "": null }),
  fc.constantFrom<unknown>({ length: 3 }, [{}], JSON.parse('{"__proto__": {"polluted": true}}')),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A secret as tools make them: no part of it occurs by chance. */
export const anySecret: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("eyJhbGciOiJSUzI1NiJ9.", "", "glpat-", "AKIA", "s3cr3t-"),
    fc.array(fc.constantFrom(..."ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnopqrstuvwxyz23456789_-"), {
      minLength: 32,
      maxLength: 43,
    }),
  )
  .map(([head, tail]) => `${head}Zq${tail.join("")}`);

/** Whether anything that every object has was changed. */
export function isPolluted(): boolean {
  const plain: object = {};
  return "polluted" in plain || Object.keys(Object.prototype).length > 0;
}

/** Makes a pipe that nobody writes to: to open it waits for ever. @returns its path */
export function makePipe(path: string): string {
  const { success, stderr } = Bun.spawnSync(["mkfifo", path]);
  if (!success) throw new Error(`Cannot make a pipe: ${stderr.toString()}`);
  return path;
}
