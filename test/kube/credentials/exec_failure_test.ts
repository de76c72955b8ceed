import { expect, test } from "bun:test";
import { toExecFailure } from "../../../lib/kube/credentials/exec_failure.ts";

const SPEC = {
  args: ["login", "--password=hunter2", "--api-key", "k-123"],
  env: { PROFILE: "prod" },
};

test.each<[what: string, error: unknown, words: string]>([
  ["a command that is not there", { code: "ENOENT" }, "does not exist"],
  ["a file that is no program", { code: "EACCES" }, "may not be executed"],
  ["a silent one", { code: 3, stderr: "\n" }, "ended with code 3 and said nothing"],
  ["the last line", { code: 1, stderr: "a\nb\r\n\n" }, 'ended with code 1, saying "b"'],
  ["a hanging one", { killed: true, stderr: "wait" }, 'did not end within 8 s, saying "wait"'],
  [
    "a flood",
    { code: "ERR_CHILD_PROCESS_STDIO_MAXBUFFER", stderr: "" },
    "printed more than 1 MiB and said nothing",
  ],
  ["a killed one", { code: null, stderr: "x" }, 'failed, saying "x"'],
  ["control characters", { code: 1, stderr: "\u001b[2Jx" }, String.raw`"\u001b[2Jx"`],
  ["what it was given", { code: 1, stderr: "hunter2 k-123 prod" }, '"(secret) (secret) (secret)"'],
  ["what is named as a secret", { code: 1, stderr: "bad token=abc" }, '"bad token=(secret)"'],
  ["what is cut", { code: 1, stderr: `s3cr3t${"x".repeat(4_092)} end` }, '"end"'],
  ["no error at all", undefined, "failed and said nothing"],
])("toExecFailure() tells %s", (_what, error, words) => {
  expect(toExecFailure(error, SPEC, 8_000)).toEndWith(words);
});

test("toExecFailure() tells a long line by its beginning", () => {
  const words = toExecFailure({ code: 1, stderr: "no ".repeat(1_000) }, SPEC, 8_000);
  expect(words).toStartWith('ended with code 1, saying "no no ');
  expect(words.length).toBeLessThan(300);
});
