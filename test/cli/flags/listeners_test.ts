import { expect, test } from "bun:test";
import { FLAGS } from "../../../lib/cli/flags/table.ts";
import { GivenFlags } from "../../../lib/cli/flags/given.ts";
import { toListeners } from "../../../lib/cli/flags/listeners.ts";
import type { ConfigIssue } from "../../../lib/core/errors.ts";

test("toListeners() listens with HTTPS everywhere, and without access control on loopback", () => {
  const issues: ConfigIssue[] = [];
  expect(toListeners(new GivenFlags([], FLAGS), issues)).toMatchObject({
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: 10_260 },
    secure: { address: { kind: "tcp", host: "0.0.0.0", port: 10_258 } },
  });
  expect(issues).toEqual([]);
});
