import { expect, test } from "bun:test";
import { toPlaces } from "../../../../lib/providers/xenorchestra/model/places.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

const LABELS = {
  "topology.k8s.xenorchestra/pool_id": "p",
  "topology.k8s.xenorchestra/pool_name_label": "Paris",
  "topology.k8s.xenorchestra/host_id": "h",
  "topology.k8s.xenorchestra/host_name_label": "",
};

test("toPlaces() names pool and host as the cloud does, not as labels may", () => {
  const details = { poolId: "q", poolName: "Lyon · 2", hostId: "i", hostName: "xcp <1>" };
  expect(toPlaces(toInstance("a", { details }), LABELS)).toEqual([
    { kind: "pool", id: "q", name: "Lyon · 2" },
    { kind: "host", id: "i", name: "xcp <1>" },
  ]);
});

test("toPlaces() gives a VM that does not run no host, whatever its Node was labelled", () => {
  const instance = toInstance("a", { details: { poolId: "q" } });
  expect(toPlaces(instance, LABELS)).toEqual([{ kind: "pool", id: "q" }]);
});

test("toPlaces() goes by the labels of a Node whose VM is not shown", () => {
  expect(toPlaces(undefined, LABELS)).toEqual([
    { kind: "pool", id: "p", name: "Paris" },
    { kind: "host", id: "h" },
  ]);
  expect(toPlaces(undefined, {})).toEqual([]);
});
