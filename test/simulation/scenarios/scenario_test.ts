import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sample } from "../../support/extent.ts";
import { tellWithCrashes } from "../crash_points.ts";
import { findTelling, type Telling } from "./scenario.ts";
import { TELLINGS } from "./services/mod.ts";

const CREATED = "services/service-is-created";
const ENDING = { replay: "", violations: [], trace: [], hash: "", virtualMs: 0 };
const KNOWN: readonly Telling[] = [
  [CREATED, true],
  [`${CREATED}/long-jobs`, true],
  ["status-401/off", false],
  ["status-401/default", false],
  ["status-403/off", false],
  ["status-403/default", false],
].map(([name, hasPoints]) => ({
  name: String(name),
  isOfCi: false,
  hasPoints: hasPoints === true,
  tell: () => Promise.resolve(ENDING),
}));

describe("findTelling()", () => {
  test.each([
    [CREATED, CREATED, undefined],
    ["service-is-created", CREATED, undefined],
    ["created/lo", `${CREATED}/long-jobs`, undefined],
    ["service-is-created@after-7", CREATED, { at: 7, when: "after" }],
    ["created/long-jobs@before-12", `${CREATED}/long-jobs`, { at: 12, when: "before" }],
  ] as const)("finds %s", (text, name, point) => {
    const found = findTelling(KNOWN, text);
    expect([found.telling.name, found.point]).toEqual([name, point]);
  });

  const form = 'crash point: must be "before-N" or "after-N", with N from 1, but is';
  test.each([
    ["nope", 'there is no scenario "nope"; --scenarios prints all names'],
    ["nope@after-7", 'there is no scenario "nope"; --scenarios prints all names'],
    ["is-cr", `2 scenarios match "is-cr": ${CREATED}, ${CREATED}/long-jobs`],
    ["status", '4 scenarios match "status": status-401/off, status-401/default, status-403/off, …'],
    ["", `6 scenarios match "": ${CREATED}, ${CREATED}/long-jobs, status-401/off, …`],
    ["status-401/off@after-7", 'scenario "status-401/off" has no crash points'],
    [`${CREATED}@`, `${form} empty`],
    [`${CREATED}@3`, `${form} "3"`],
    [`${CREATED}@after-x`, `${form} "after-x"`],
    [`${CREATED}@after-0`, `${form} "after-0"`],
    [`${CREATED}@after-7@after-8`, `${form} "after-7@after-8"`],
  ])("refuses %j", (text, message) => {
    expect(() => findTelling(KNOWN, text)).toThrow(new Error(message));
  });
});

test("a scenario with one crash shows where the process dies, and how to tell it again", async () => {
  const { telling, point } = findTelling(TELLINGS, "service-is-created@after-7");
  const { replay, trace, violations } = await telling.tell(point);
  const deaths = trace.filter((line) => line.includes(" dies at request "));

  expect(violations).toEqual([]);
  expect(replay).toBe(`--scenario ${CREATED}@after-7`);
  expect(deaths).toHaveLength(1);
  expect(deaths[0]).toMatch(/ a1 +dies at request 7 \(\w+\), after it was done$/);
});

test("a crash point that is not reached is no success", async () => {
  const tell = () => Promise.resolve({ ...ENDING, left: "", asked: [], isReached: false });
  const { violations } = await tellWithCrashes(tell, () => [], { at: 9, when: "before" });
  expect(violations).toEqual(["no process died at request 9 of 0"]);
});

test.each(
  sample([
    ["--scenario nope", 'there is no scenario "nope"; --scenarios prints all names\n'],
    ["--vinos --sipclusters", "only one of --vinos, --sipclusters at a time\n"],
    ["--seed -1", '--seed: must be a whole number from 0 to 4294967295, but is "-1"\n'],
    [
      "--scenario nope --seed 3",
      "--scenario cannot be combined with --seed, --count or --minutes\n",
    ],
  ]),
)("npm run simulate -- %s says what is wrong on standard error", (flags, message) => {
  const main = join(import.meta.dir, "../main.ts");
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, main, ...flags.split(" ")]);
  expect([String(stdout), String(stderr), exitCode]).toEqual(["", message, 2]);
});
