/**
 * Edits of a complete Vino that Landfall does not follow, with a simulated Xen Orchestra: what it says about them, and
 * that nothing is left of that when they are taken back.
 * @module
 */
import { expect, test } from "bun:test";
import { findCondition } from "../../../lib/controllers/kinds/conditions.ts";
import type { VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { until } from "../../support/nodes/rig.ts";
import {
  startXenOrchestraStage,
  toXenOrchestraSpec,
  type XenOrchestraStage,
} from "../../support/vino/xen_orchestra_stage.ts";

const READY = "True ReconciliationSucceeded";
const TIMEOUT_MS = 20_000;
const SPEC = toXenOrchestraSpec(2);

function read({ stage }: XenOrchestraStage, type: string): string {
  return findCondition(stage.read("edge")?.status, type)?.message ?? "";
}

function listEvents({ stage }: XenOrchestraStage): string[] {
  return stage.kubernetes.objects.list("events").map((one) => String(one["reason"]));
}

async function startReady(): Promise<XenOrchestraStage> {
  const rig = await startXenOrchestraStage();
  rig.stage.create("edge", SPEC);
  await rig.stage.untilCondition("edge", "Ready", READY);
  return rig;
}

test(
  "another subnet leaves machines as they are, and all conditions say so",
  async () => {
    await using rig = await startReady();
    const { stage } = rig;
    const [oam, ...others] = SPEC.networks ?? [];
    const moved = {
      ...oam,
      name: "oam",
      subnet: "198.51.100.0/24",
      staticAllocationStart: "198.51.100.10",
      staticAllocationStop: "198.51.100.99",
      routes: [],
    };
    stage.change("edge", { networks: [moved, ...others] });
    await stage.untilCondition("edge", "Ready", "False AddressesDiffer");
    await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
    expect(read(rig, "MachinesReady")).toMatch(
      /^2 of 2 machines are complete\. .*eth0 of vino-\w+-worker-0 has 192\.0\.2\.10, but .*back to 192\.0\.2\.0\/24/,
    );
    expect(read(rig, "HostsPublished")).toStartWith("All 2 complete machines have a BareMetalHost");
    stage.change("edge", { networks: [...(SPEC.networks ?? [])] });
    await stage.untilCondition("edge", "Ready", READY);
    await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
    expect(listEvents(rig).filter((one) => one === "AddressesDiffer")).toHaveLength(1);
    expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
  },
  TIMEOUT_MS,
);

const { xenOrchestra } = SPEC;
const RENAMED = [{ name: "os", size: "20Gi" }, ...(xenOrchestra?.disks ?? []).slice(1)];

test.each<[string, VinoSpec["xenOrchestra"], string]>([
  ["pool", { ...xenOrchestra, pool: "lyon" }, "is in pool paris, but xenOrchestra.pool wants lyon"],
  [
    "name of a disk",
    { ...xenOrchestra, disks: RENAMED },
    "but the machine has disk root, which the spec does not name",
  ],
])(
  "another %s leaves machines as they are, and says what they have",
  async (_what, changed, message) => {
    await using rig = await startReady();
    const { stage } = rig;
    stage.change("edge", { ...(changed && { xenOrchestra: changed }) });
    await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
    expect(read(rig, "MachinesDiffer")).toContain(message);
    stage.change("edge", { ...(xenOrchestra && { xenOrchestra }) });
    await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
    expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
  },
  TIMEOUT_MS,
);

test(
  "an IPPool that a user deletes is made again, and one Warning says so",
  async () => {
    await using rig = await startReady();
    const { objects } = rig.stage.kubernetes;
    const owners = rig.stage.listPoolOwners();
    for (const { metadata } of objects.list("ippools")) {
      objects.delete("ippools", { namespace: "kube-system", name: metadata.name });
    }
    await until("the pool is there again", () => objects.list("ippools").length === 1, 15_000);
    await until("an Event says so", () => listEvents(rig).includes("IPPoolVanished"), 15_000);
    expect(rig.stage.listPoolOwners()).toEqual(owners);
    expect(listEvents(rig).filter((one) => one === "IPPoolVanished")).toHaveLength(1);
  },
  TIMEOUT_MS,
);
