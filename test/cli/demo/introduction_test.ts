import { expect, test } from "bun:test";
import { type Introduced, toIntroduction } from "../../../lib/cli/demo/introduction.ts";

const SHOWN: Introduced = {
  kubernetes: "http://127.0.0.1:1",
  hasOutOfService: false,
  hasServices: false,
  cloud: {
    title: "CloudStack",
    url: "http://127.0.0.1:2/client/api",
    summary: "one VM",
  },
  files: { env: "/d/env", isFish: false },
  debugAddress: { kind: "tcp", host: "127.0.0.1", port: 3 },
};
test("toIntroduction() says what runs, and how to watch it", () => {
  const lines = toIntroduction(SHOWN).split("\n");
  expect(lines).toContain(
    "A simulated CloudStack listens at http://127.0.0.1:2/client/api: one VM",
  );
  expect(lines).toContain("  . /d/env");
  expect(lines).toContain("  landfall check");
  expect(lines).toContain("  in a browser: http://127.0.0.1:3/debug/");
});
