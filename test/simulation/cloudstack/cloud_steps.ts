/**
 * What goes wrong with CloudStack, with the rights of its user, and on the way to it.
 * @module
 */
import type { Fault } from "../../../lib/simulator/cloudstack/mod.ts";
import type { Offering, Zone } from "../../../lib/simulator/cloudstack/world/records.ts";
import type { Random } from "../../support/random.ts";
import { spread } from "../steps/settings.ts";
import { toSaying } from "../world/settings_file.ts";
import type { CloudStackWorld } from "./cloud.ts";
import { later, type Step, toStep } from "../steps/mod.ts";

type CloudStep = Step<CloudStackWorld>;

const LIST = "listVirtualMachines";

/** Answers that are wrong, late, cut off, or never come. */
const answers: CloudStep = toStep("cloud answers wrongly", 5, (world) => {
  const { random, cloud, timeline, machines } = world;
  const fault = drawFault(random);
  const command = random.pick([undefined, LIST, LIST, "listProjects"]);
  const value = random.chance(0.3) ? random.pick([...machines.values()]) : undefined;
  const ms = random.between(1_000, fault.kind === "hang" ? 40_000 : 90_000);
  const scope = { ...(command && { command }), ...(value && { value }) };
  timeline.schedule(ms, cloud.server.faults.set(fault, scope));
  return `${JSON.stringify(fault)} to ${JSON.stringify(scope)} for ${ms} ms`;
});

/** As when a connection breaks or a proxy is restarted: a try fails, or two, and the next succeeds. */
export function stumble({ random, cloud }: CloudStackWorld): string {
  const fault = random.pick<Fault>([{ kind: "html", status: 502 }, { kind: "halfBody" }]);
  cloud.server.faults.set(fault, { command: LIST, times: random.between(1, 2) });
  return JSON.stringify(fault);
}

function drawFault(random: Random): Fault {
  return random.pick<Fault>([
    { kind: "error", code: random.pick([401, 405, 431, 432, 503, 530, 531]) },
    { kind: "error", code: 429 },
    { kind: "html", status: random.pick([200, 404, 502]) },
    {
      kind: "json",
      body: random.pick([[], {}, null, "text", { listvirtualmachinesresponse: {} }]),
    },
    { kind: "json", status: 431, body: { error: "not found" } },
    { kind: "delay", ms: random.between(1_000, 40_000) },
    { kind: "hang" },
    { kind: "halfBody" },
    { kind: "reset" },
    { kind: "redirect", location: "http://login.memory/" },
    { kind: "emptyList" },
    { kind: "missingPage", page: random.between(1, 3) },
    { kind: "shrinkingList" },
  ]);
}

/** Everything that goes wrong there. */
export const CLOUD_STEPS: readonly CloudStep[] = [
  answers,
  toStep("cloud stumbles", 3, (world) => stumble(world)),
  // Connections are cut, then nobody listens, then a proxy answers for it, then it starts.
  toStep("cloud restarts", 2, (world) => {
    const { random, cloud, incarnations, timeline } = world;
    const downMs = random.between(500, 15_000);
    const startingMs = downMs + random.between(0, 20_000);
    for (const { cloud: link } of incarnations) {
      link.isRefused = true;
      link.reset();
    }
    const fault = random.pick<Fault>([
      { kind: "html", status: 502 },
      { kind: "error", code: 503 },
    ]);
    timeline.schedule(startingMs, cloud.server.faults.set(fault));
    later(world, downMs, () => {
      for (const { cloud: link } of world.incarnations) link.isRefused = false;
    });
    return `back after ${downMs} ms, started after ${startingMs} ms`;
  }),
  // The load balancer before it leads to another one, which the same keys open, and which has no machine.
  toStep("another CloudStack answers", 1, (world) => {
    const ms = world.random.between(1_000, 120_000);
    world.cloud.isReplaced = true;
    later(world, ms, () => (world.cloud.isReplaced = false));
    return `for ${ms} ms`;
  }),
  toStep("role loses commands", 1, (world) => {
    const { random, cloud } = world;
    const { user } = cloud.server;
    const ms = random.between(1_000, 90_000);
    user.role.commands = random.pick([[], ["listZones"], ["listProjects", "listCapabilities"]]);
    later(world, ms, () => (user.role.commands = ["*"]));
    return `for ${ms} ms`;
  }),
  toStep("user locked out", 0.5, (world) => {
    const { random, cloud } = world;
    const ms = random.between(1_000, 60_000);
    const { user, state } = { user: cloud.server.user, state: cloud.state };
    const [project] = state.projects.values();
    if (cloud.places.hasProject && project && random.chance(0.5)) {
      project.memberIds = [];
      later(world, ms, () => cloud.places.restoreProject(state));
      return `of the project for ${ms} ms`;
    }
    user.isEnabled = false;
    later(world, ms, () => (user.isEnabled = true));
    return `for ${ms} ms`;
  }),
  // The old keys are worth nothing at once; each replica has the new ones in its file a little later.
  toStep("keys rotated", 1, (world) => {
    const { random, cloud } = world;
    const token = `simulated-key-${random.between(1, 1e6)}-of-forty-characters`;
    cloud.changeKeys(token);
    world.said = { ...world.said, token };
    spread(world, toSaying(cloud, world.said));
    return "";
  }),
  toStep("server's settings changed", 2, (world) => {
    const { random, cloud } = world;
    const { settings } = cloud.server;
    const ms = random.between(5_000, 120_000);
    const changes = random.pick([
      { defaultPageSize: random.pick([20, 500]) },
      { clockSkewMs: random.between(-20, 20) * 60_000 },
      { throttling: { max: random.between(1, 6), intervalMs: 10_000 } },
      { enforcesPostAndTimestamps: true },
    ]);
    Object.assign(settings, changes);
    later(world, ms, () => cloud.resetSettings());
    return `${JSON.stringify(changes)} for ${ms} ms`;
  }),
  // One record is sent in a form that CloudStack never has, as by a plugin or a newer version.
  toStep("record damaged", 1, (world) => {
    const { random, cloud, machines } = world;
    const vmId = random.pick([...machines.values()]);
    if (!cloud.state.vms.has(vmId)) return undefined;
    const fields = random.pick<Readonly<Record<string, unknown>>>([
      { zonename: undefined },
      { zoneid: undefined, zonename: undefined },
      { serviceofferingname: undefined },
      { serviceofferingname: 7 },
      { state: "Hibernating" },
      { state: 5 },
      { state: undefined },
      { nic: "none" },
      { nic: undefined },
      { name: undefined },
      { account: undefined, projectid: undefined },
      { id: "not-a-uuid" },
      { id: undefined },
    ]);
    const ms = random.between(5_000, 90_000);
    cloud.state.override(vmId, fields);
    later(world, ms, () => {
      const vm = cloud.state.vms.get(vmId);
      if (vm) vm.overrides = {};
    });
    const shown = Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`);
    return `${vmId} ${shown.join(" ")} for ${ms} ms`;
  }),
  // Between two pages of a list, one machine that is no Node's goes and another comes: the count stays the same.
  toStep("other VMs come and go", 3, (world) => {
    const { random, cloud } = world;
    const others = [...cloud.state.vms.values()].filter(
      ({ id, isRemoved }) => !cloud.names.has(id) && !isRemoved,
    );
    const [goes, comes] = [random.between(0, 3), random.between(0, 3)];
    for (const { id } of others.slice(0, goes)) cloud.state.expunge(id);
    for (let at = 0; at < comes; at += 1) cloud.addOther(`x${random.between(1, 1e6)}`);
    return `${goes} go, ${comes} come`;
  }),
  toStep("zone or offering renamed", 1, ({ random, cloud }) => {
    const { zones, offerings } = cloud.state;
    const isZone = random.chance(0.5);
    const place = random.pick<Zone | Offering>([...(isZone ? zones : offerings).values()]);
    place.name = `${isZone ? "zone-" : "Size "}${random.between(10, 99)}`;
    return `${place.id} ${place.name}`;
  }),
];

/** Nobody answers, another one does, or the role is gone: for long. */
export function beginOutage(world: CloudStackWorld, ms: number): void {
  const { random, cloud, trace, timeline } = world;
  const how = random.pick(["down", "replaced", "restricted", "well"] as const);
  if (how === "down") timeline.schedule(ms, cloud.server.faults.set({ kind: "html", status: 502 }));
  if (how === "replaced") {
    cloud.isReplaced = true;
    later(world, ms, () => (cloud.isReplaced = false));
  }
  if (how === "restricted") {
    cloud.server.user.role.commands = [];
    later(world, ms, () => (cloud.server.user.role.commands = ["*"]));
  }
  trace.note("STEP", `cloud ${how} for ${ms} ms`);
  world.noteChange();
}
