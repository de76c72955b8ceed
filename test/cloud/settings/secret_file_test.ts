import { describe, expect, test } from "bun:test";
import {
  explainOddSecret,
  explainSecret,
  type FileProblem,
  FileProblems,
} from "../../../lib/cloud/settings/secret_file.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const WRONG = { problem: "has a blank", isAway: false };
const AWAY = { problem: "is empty", isAway: true };
type Look = readonly [afterMs: number, found: FileProblem | undefined, isNew: boolean];

test.each<[string, Look[]]>([
  [
    "once",
    [
      [0, WRONG, true],
      [90_000, WRONG, false],
    ],
  ],
  [
    "again after it was well",
    [
      [0, WRONG, true],
      [1_000, undefined, false],
      [1_000, WRONG, true],
    ],
  ],
  [
    "after a minute if the file is missing",
    [
      [0, AWAY, false],
      [59_999, AWAY, false],
      [1, AWAY, true],
    ],
  ],
  [
    "after another minute if the file came back in between",
    [
      [0, AWAY, false],
      [50_000, undefined, false],
      [50_000, AWAY, false],
      [60_000, AWAY, true],
    ],
  ],
  [
    "at once if a missing file becomes a wrong one",
    [
      [0, AWAY, false],
      [1_000, WRONG, true],
    ],
  ],
])("FileProblems reports a problem %s", async (_when, looks) => {
  const clock = new ManualClock();
  const problems = new FileProblems(clock);
  for (const [afterMs, found, isNew] of looks) {
    await clock.advance(afterMs);
    expect(problems.findNew(found)).toBe(isNew ? found : undefined);
  }
});

describe("explainSecret()", () => {
  test.each([
    ["", "is blank"],
    [" \n", "is blank"],
    ["s3crét", "not ASCII"],
    ["s3c ret", "a blank"],
    ["s3c\nret", "a line break"],
    ["s3c\0ret", "control character"],
  ])("says what is wrong with %j without repeating it", (text, problem) => {
    expect(explainSecret(text)).toContain(problem);
    expect(explainSecret(text)).not.toMatch(/s3c|ret/);
  });

  test("accepts every visible ASCII character, and blanks around them", () => {
    const all = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join("");
    expect(explainSecret(` ${all}\n`)).toBeUndefined();
  });
});

describe("explainOddSecret()", () => {
  test.each([
    ["/etc/landfall/token", "looks like a path: name the file of a token in tokenFile"],
    ["./token", "looks like a path: name the file of a token in tokenFile"],
    ["../token", "looks like a path: name the file of a token in tokenFile"],
    ["$XOA_TOKEN", "looks like a variable that was not replaced"],
    ["${XOA_TOKEN}", "looks like a variable that was not replaced"],
  ])("says of %s what it looks like", (text, what) => {
    expect(explainOddSecret(text, "a token", "tokenFile")).toBe(what);
  });

  test.each(["", "abc/def", "a/b+c==", "//x", "$", "Xx0-_9bR3kq7", "a$b"])(
    "says nothing of %p",
    (text) => {
      expect(explainOddSecret(text, "a token", "tokenFile")).toBeUndefined();
    },
  );
});
