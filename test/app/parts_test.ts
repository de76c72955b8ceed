import { expect, test } from "bun:test";
import { createParts } from "../../lib/app/parts.ts";
import { toBareApp } from "../support/process/bare_app.ts";
import { FakeProvider } from "../support/cloud/instances.ts";

test("createParts() only puts the parts together: nothing is asked, nothing is known", () => {
  const provider = new FakeProvider();
  const parts = createParts(toBareApp({ provider }));
  expect(parts.nodes.synced).toBe(false);
  expect(parts.source.current).toBeUndefined();
  expect(parts.source.lastAttemptMs).toBeUndefined();
});
