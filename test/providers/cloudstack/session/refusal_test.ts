import { expect, test } from "bun:test";
import { judgeRefusal } from "../../../../lib/providers/cloudstack/session/refusal.ts";

test.each([
  [401, "unauthorized"],
  [411, "twoFactors"],
  [429, "throttled"],
  [431, "invalid"],
  [432, "forbidden"],
  [530, "serverError"],
  [531, "forbidden"],
  [536, "conflict"],
  [599, "serverError"],
  [444, "refused"],
])("judgeRefusal() gives %i the word %s, and an advice", (code, word) => {
  const { advice, ...judged } = judgeRefusal({ code, text: "" }, { command: "c", secrets: [] });
  expect(judged.word).toBe(word);
  expect(advice).toMatch(/^[a-z].*[^.]$/);
});

test.each([
  [401, "The given command 'c' either does not exist, is not available for user.", "forbidden"],
  [431, "Invalid parameter projectid value=p due to incorrect long value format", "noProject"],
])("judgeRefusal() of %i reads the server's words: %s", (code, text, word) => {
  expect(judgeRefusal({ code, text }, { command: "c", secrets: [] }).word).toBe(word);
});
