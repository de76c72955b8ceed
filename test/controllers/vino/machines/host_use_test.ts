import { expect, test } from "bun:test";
import {
  findForeignHost,
  findHostUse,
} from "../../../../lib/controllers/vino/machines/host_use.ts";
import type { HostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";

const UID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
const MACHINE = "vino-1b4e28ba-worker-0";
const USE = 'is used by Metal3Machine "a"';

test.each<[string, Partial<HostFacts> | undefined, string | undefined, boolean]>([
  ["is used", { vinoUid: UID }, USE, false],
  ["nothing uses", { vinoUid: UID, use: undefined }, undefined, false],
  ["lost its label", { machineName: MACHINE }, USE, false],
  ["has its name, and is of something else", {}, undefined, true],
  [
    "lost its label, and is for another machine",
    { machineName: "vino-00000000-a-0" },
    undefined,
    true,
  ],
  [
    "has another label, and is for the machine",
    { vinoUid: "v2", machineName: MACHINE },
    USE,
    false,
  ],
  ["is of another Vino", { vinoUid: "v2", machineName: "vino-00000000-a-0" }, undefined, true],
  ["does not exist", undefined, undefined, false],
])("findHostUse() and findForeignHost() of a host that %s", (_what, over, use, isForeign) => {
  const asked: string[] = [];
  const find = (namespace: string, name: string): HostFacts | undefined => {
    asked.push(`${namespace}/${name}`);
    if (over === undefined) return undefined;
    const base = { uid: "h", resourceVersion: "1", labels: {}, record: new Set<string>() };
    const flags = { isPaused: false, isDeleting: false, isBmcOpen: true };
    const none = { vinoUid: undefined, machineName: undefined, machineId: undefined };
    const spec = { hardwareDetails: undefined, bootMac: undefined, wayOut: undefined };
    return { ...base, ...flags, ...none, ...spec, bmcAddress: undefined, name, use: USE, ...over };
  };
  const vino = { metadata: { namespace: "metal", name: "edge", uid: UID } };
  expect(findHostUse({ find }, vino, { role: "worker", index: 0 })).toBe(use);
  const foreign = findForeignHost({ find }, vino, { role: "worker", index: 0 });
  expect(foreign?.name).toBe(isForeign ? "edge-worker-0" : undefined);
  expect(asked).toEqual(["metal/edge-worker-0", "metal/edge-worker-0"]);
});
