import { expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type FlagRange, readFlagNames, readFlagNumber } from "./command_flags.ts";
import { ROOT } from "./sources.ts";

const COMMANDS = [
  "bench/mod.ts",
  "bench/soak/mod.ts",
  "test/breaks/main.ts",
  "test/simulation/main.ts",
];

/** Runs a command of developers. */
function run(file: string, args: readonly string[]): Promise<readonly [number, string, string]> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, file), ...args], (error, stdout, stderr) =>
      resolve([Number(error?.code ?? 0), stdout, stderr]),
    );
  });
}

test("readFlags() says in one line what is wrong with the flags of every command", async () => {
  for (const file of COMMANDS) {
    const [code, stdout, stderr] = await run(file, ["--bogus=1"]);
    expect(`${file} ${code} ${stdout}${stderr}`).toMatch(
      new RegExp(`^${file} 2 Unknown option '--bogus'; there are --\\w+(, --\\w+)*\\n$`),
    );
  }
});

test.each<[args: string[], answer: readonly [number, string, string]]>([
  [["--jobs=x"], [2, "", '--jobs: must be a whole number from 1, but is "x"\n']],
  [["--quick=x"], [2, "", "Option '--quick' does not take an argument\n"]],
  [
    ["--jobs", "--quick"],
    [2, "", expect.stringMatching(/^Option '--jobs' .* use '--jobs=-XYZ'\.\n$/)],
  ],
  [
    ["--bogus", "--help"],
    [0, expect.stringMatching(/^Usage: npm run breaks .*--jobs N/s), ""],
  ],
])("readFlags() answers to %j", async (args, answer) => {
  expect(await run("test/breaks/main.ts", args)).toEqual(answer);
});

test("readFlagNames() takes known names and reports others", () => {
  expect(readFlagNames("--only", "b,a", ["a", "b", "c"])).toEqual(["b", "a"]);
  for (const text of ["d", "", "a,d", "a,"]) {
    expect(() => readFlagNames("--only", text, ["a", "b"])).toThrow(/^--only: .*there are a, b$/);
  }
});

test.each<[text: string, range: FlagRange, number: number]>([
  ["1", {}, 1],
  ["0", { min: 0 }, 0],
  ["0.5", { fraction: true }, 0.5],
  ["7", { max: 7 }, 7],
])("readFlagNumber() takes %s", (text, range, number) => {
  expect(readFlagNumber("--count", text, range)).toBe(number);
});

test.each<[text: string, range: FlagRange, wanted: string]>([
  ["abc", {}, "a whole number from 1"],
  ["", {}, "a whole number from 1"],
  ["1.5", {}, "a whole number from 1"],
  ["Infinity", {}, "a whole number from 1"],
  ["0", {}, "a whole number from 1"],
  ["-1", { min: 0 }, "a whole number from 0"],
  ["8", { max: 7 }, "a whole number from 1 to 7"],
  ["0", { fraction: true }, "a number above 0"],
  ["NaN", { fraction: true, min: 0 }, "a number from 0"],
])("readFlagNumber() refuses %p with %p", (text, range, wanted) => {
  expect(() => readFlagNumber("--count", text, range)).toThrow(
    `--count: must be ${wanted}, but is "${text}"`,
  );
});
