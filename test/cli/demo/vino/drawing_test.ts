import { expect, test } from "bun:test";
import { drawHosts } from "../../../../lib/cli/demo/vino/drawing.ts";
import { MACHINE_ID } from "../../../../lib/controllers/vino/hosts/words.ts";
import { HOST_CLUSTER_NAME } from "../../../../lib/controllers/words.ts";
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";

const TIMES = { resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function toVm(name: string, place: string, isRunning = true): XoRecord {
  const power = isRunning ? "Running" : "Halted";
  return { id: name, name_label: `vino-1b4e28ba-${name}`, $container: place, power_state: power };
}

function toHost(name: string, labels: Record<string, string> = {}): ApiObject {
  const annotations = { [MACHINE_ID]: name };
  return { metadata: { ...TIMES, name, uid: name, labels, annotations } };
}

test("drawHosts() shows each machine where it is, and how far it is", () => {
  expect(
    drawHosts({
      hosts: new Map([
        ["h1", "xcp-1"],
        ["h2", "xcp-two"],
      ]),
      machines: [
        toVm("control-plane-0", "h1"),
        toVm("worker-0", "h1"),
        toVm("worker-1", "h1"),
        toVm("worker-2", "pool", false),
      ],
      bareMetalHosts: [
        toHost("control-plane-0", { [HOST_CLUSTER_NAME]: "blue" }),
        toHost("worker-0"),
      ],
    }),
  ).toEqual(["     xcp-1     C w w*", "     xcp-two", "     off       +"]);
});
