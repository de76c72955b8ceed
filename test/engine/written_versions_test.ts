import { expect, test } from "bun:test";
import { WrittenVersions } from "../../lib/engine/written_versions.ts";
import { toNode } from "../support/nodes/nodes.ts";

const at = (resourceVersion: string): ReturnType<typeof toNode> => toNode("n", { resourceVersion });

test("WrittenVersions knows a Node as it was before our writes, until a newer one is shown", () => {
  const written = new WrittenVersions();
  written.note(at("1"), at("2"));
  written.note(at("2"), at("3"));
  expect([written.isStale(at("1")), written.isStale(at("2"))]).toEqual([true, true]);
  expect(written.isStale(at("3"))).toBe(false);
  expect(written.isStale(at("1"))).toBe(false);
});

test("WrittenVersions does not take a write that changed nothing for one", () => {
  const written = new WrittenVersions();
  written.note(at("1"), at("1"));
  expect(written.isStale(at("1"))).toBe(false);
});

test("WrittenVersions forgets a Node", () => {
  const written = new WrittenVersions();
  written.note(at("1"), at("2"));
  written.forget("n");
  expect(written.isStale(at("1"))).toBe(false);
});
