import { expect, test } from "bun:test";
import {
  DURATIONS,
  MODES,
  RESET_TYPES,
  TARGETS,
  toManagerPath,
  toSystemPath,
  toWord,
} from "../../../lib/http/redfish/words.ts";

test.each([RESET_TYPES, TARGETS, DURATIONS, MODES])(
  "toWord() finds each word of %o again",
  (words) => {
    for (const [word, own] of Object.entries(words)) expect(toWord(words, own)).toBe(word);
  },
);

test("toSystemPath() and toManagerPath() are the addresses that hosts get", () => {
  expect([toSystemPath("a"), toManagerPath("a")]).toEqual([
    "/redfish/v1/Systems/a",
    "/redfish/v1/Managers/a",
  ]);
});
