/**
 * What goes wrong with Xen Orchestra, its hypervisors, and the way there.
 * @module
 */
import type { Fault } from "../../../../lib/simulator/xenorchestra/faults.ts";
import { onProcess } from "../../steps/controller.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { tagsOf } from "../judges/machines.ts";
import { HOST_TAG } from "../orders.ts";
import type { VinoWorld } from "../world.ts";
import { type Step, toStep } from "../../steps/mod.ts";

const RESTART = { connectedAfterMs: 1_000, loadedAfterMs: 10_000 };
/** The real server shows the objects of a pool up to a minute late. */
const LINGER_MS_MAX = 58_000;
/** Only answers to changes can be lost in a way that matters, and a proxy sends only these twice. */
const CHANGES = [
  "POST /pools/{id}/actions/create_vm",
  "POST /vms/{id}/actions/start",
  "PATCH /vms/{id}",
  "PUT /vms/{id}/tags/{tag}",
  "POST /vdis",
  "POST /vbds",
  "PUT /vdis/{id}.raw",
  "DELETE /vms/{id}",
  "DELETE /vdis/{id}",
] as const;
const METHODS = [
  "VM.clone",
  "VM.provision",
  "VM.start",
  "VM.destroy",
  "VDI.create",
  "VBD.create",
  "VIF.create",
  undefined,
] as const;

/** What goes wrong with the cloud. */
export const CLOUD_STEPS: readonly Step<VinoWorld>[] = [
  toStep("xo-server is killed", 3, ({ cloud, random, timeline }) => {
    if (!cloud.life.isUp) return undefined;
    cloud.kill();
    const ms = random.between(1_000, 20_000);
    timeline.schedule(ms, () => cloud.start(RESTART));
    return `for ${ms} ms`;
  }),
  toStep("pool is lost", 3, ({ cloud, random, site }) => {
    const [name, id] = random.pick(Object.entries(site.poolIds));
    const loss = {
      forMs: random.between(500, 60_000),
      lingerMs: random.between(0, LINGER_MS_MAX),
      noticedAfterMs: random.pick([0, 0, 20_000]),
    };
    cloud.state.losePool(id, loss);
    return `${name} ${JSON.stringify(loss)}`;
  }),
  toStep("answers to changes go wrong", 5, ({ cloud, cloudJudge, random }) => {
    const kind = random.pick(["resetAfter", "hangAfter", "repeat", "reset", "hang"] as const);
    if (kind === "repeat") cloudJudge.watcher.isRepeating = true;
    const route = random.pick(CHANGES);
    cloud.faults.set({ kind }, { route, times: random.between(1, 2) });
    return `${kind} ${route}`;
  }),
  toStep("answers go wrong", 3, ({ cloud, random, timeline }) => {
    const fault = random.pick<Fault>([
      { kind: "status", status: 500 },
      { kind: "status", status: 503, retryAfterSeconds: 5 },
      { kind: "status", status: 401 },
      { kind: "html", status: 200 },
      { kind: "halfBody" },
      { kind: "delay", ms: 5_000 },
      { kind: "json", body: [] },
    ]);
    const ms = random.between(500, 20_000);
    timeline.schedule(ms, cloud.faults.set(fault));
    return `${JSON.stringify(fault)} for ${ms} ms`;
  }),
  toStep("a hypervisor", 4, ({ cloud, random }) => {
    const method = random.pick(METHODS);
    const scope = { ...(method !== undefined && { method }), times: random.between(1, 2) };
    const fault = random.pick([
      { kind: "fail", code: "HOST_NOT_ENOUGH_FREE_MEMORY" },
      { kind: "fail", code: "INTERNAL_ERROR" },
      { kind: "delay", ms: random.between(1_000, 90_000) },
    ] as const);
    cloud.hypervisor.faults.set(fault, scope);
    return `${JSON.stringify(fault)} ${method ?? "any"}`;
  }),
  toStep("tag of a hypervisor", 3, (world) => {
    const host = world.random.pick(world.hypervisors);
    const isTagged = tagHypervisor(world, host);
    return `${String(host["name_label"])} ${isTagged ? "gets" : "loses"} it`;
  }),
  onProcess("way to the cloud is cut", 2, ({ random, timeline }, { cloud }) => {
    cloud.isSevered = true;
    timeline.schedule(random.between(1_000, 60_000), () => {
      cloud.isSevered = false;
    });
  }),
  onProcess("way to the cloud loses", 3, ({ random, timeline }, { cloud }) => {
    cloud.lossShare = random.pick([0.05, 0.2, 0.5]);
    timeline.schedule(random.between(5_000, 60_000), () => {
      cloud.lossShare = 0;
    });
  }),
];

/** Gives a hypervisor the tag by which Vinos name some, or takes it away. Returns whether it has it then. */
export function tagHypervisor({ cloudJudge }: VinoWorld, host: XoRecord): boolean {
  const isTagged = hasTag(host);
  const others = tagsOf(host).filter((tag) => tag !== HOST_TAG);
  host["tags"] = isTagged ? others : [...others, HOST_TAG];
  cloudJudge.watcher.protect("hosts", host.id);
  return !isTagged;
}

/** Gives one the tag if none has it: otherwise a Vino that names the tag could have no machine. */
export function tagOneHypervisor(world: VinoWorld): void {
  const [first] = world.hypervisors;
  if (first !== undefined && !world.hypervisors.some(hasTag)) tagHypervisor(world, first);
}

function hasTag(host: XoRecord): boolean {
  return tagsOf(host).includes(HOST_TAG);
}
