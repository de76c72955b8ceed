import { expect, test } from "bun:test";
import { describeOutOfService } from "../../lib/http/out_of_service.ts";
import { toNodeView } from "../support/page/node_views.ts";

const off = { id: "i", name: "i", state: "stopped", details: {} };
const message = "Its instance has been off for 3s of 30s";

test.each([
  ["waiting", { state: "waiting", message }, off, "not yet", message],
  ["about to be proven", { state: "confirm" }, off, "not yet", "Landfall asks the cloud for proof"],
  ["blocked", { state: "blocked", message: "too many are off" }, off, "no", "too many are off"],
  ["set", { state: "tainted" }, off, "yes", expect.stringContaining("detaches the volumes")],
  [
    "set while its machine is gone",
    { state: "tainted" },
    null,
    "yes",
    expect.stringContaining("detaches"),
  ],
  [
    "another program's",
    { state: "taintedByOthers" },
    off,
    "yes",
    expect.stringContaining("did not set"),
  ],
])(
  "describeOutOfService() says of a taint that is %s",
  (_what, outOfService, instance, answer, detail) => {
    const node = toNodeView("n", { outOfService, instance });
    expect(describeOutOfService(node)).toMatchObject({ answer, detail });
  },
);

test("describeOutOfService() says when a taint goes whose machine runs again", () => {
  const words = describeOutOfService(toNodeView("n", { outOfService: { state: "tainted" } }));
  expect(words?.detail).toContain("removes the taint when its volumes are detached");
});

test("describeOutOfService() says nothing of a Node without a reason for the taint", () => {
  expect(describeOutOfService(toNodeView("n"))).toBeUndefined();
});
