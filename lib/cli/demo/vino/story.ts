/**
 * The steps of the demo of Vinos: from a spec to virtual machines and hosts, what happens to them, and their end.
 * @module
 */
import { CONFIRMED_REMOVAL } from "../../../controllers/vino/words.ts";
import { becomes, type Step, playSteps } from "../steps.ts";
import { conditionOf, labelOf, messageOf } from "../objects.ts";
import { HOST } from "../../../controllers/vino/hosts/words.ts";
import {
  countClaimed,
  countHosts,
  describeHosts,
  drawHosts,
  findFree,
  findHostOf,
  isBlocked,
  isEachOnce,
  isReady,
  listNames,
  listOrphanDisks,
  machinesOf,
  type VinoStage,
} from "./looks.ts";
import { ROLES, toClusterSpec, toVinoSpec } from "./specs.ts";
import { toName, toPlace } from "./world.ts";

/** Time for a step in which machines are made or removed, in milliseconds. */
const LONG_MS = 90_000;
/** How many machines exist when xo-server is restarted. */
const RESTART_AT = 3;
const RESTART = { connectedAfterMs: 500, loadedAfterMs: 1_500 };

/** All steps, in order. */
export const VINO_STEPS: readonly Step<VinoStage>[] = [
  {
    title: "edge asks for VMs on three XCP-ng hosts, and xo-server restarts in the middle",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      tell("  >  kubectl applies the Vino edge: a control plane on each host, and 3 workers");
      world.applyVino("edge", toVinoSpec(3));
      await becomes(stage, signal, () => world.machines.length >= RESTART_AT, LONG_MS);
      tell(`  >  xo-server restarts while it makes ${world.machines.length} VMs`);
      await world.cloud.restart(RESTART);
      const isDone = await becomes(stage, signal, () => isReady(stage, "edge", 6), LONG_MS);
      tell(`  !  ${messageOf(world.findVino("edge"), "MachinesReady")}`);
      return isDone && isEachOnce(stage, "edge", 6);
    },
  },
  {
    title: "each VM is a BareMetalHost with an address, and labels that say where it is",
    play: async (stage, signal) => {
      const isPlaced = await becomes(stage, signal, () =>
        stage.world.bareMetalHosts.every((host) => labelOf(host, HOST) !== ""),
      );
      const lines = describeHosts(stage, "edge");
      for (const line of lines) stage.tell(`  !  ${line}`);
      return isPlaced && lines.length === 6 && lines.every((line) => line.includes("192.0.2."));
    },
  },
  {
    title:
      "the SIPCluster blue takes hosts: 3 control planes and 2 workers on different XCP-ng hosts",
    play: (stage, signal) => {
      stage.tell("  >  kubectl applies the SIPCluster blue");
      stage.world.createCluster("blue", toClusterSpec(3, 2));
      return becomes(
        stage,
        signal,
        () =>
          conditionOf(stage.world.findCluster("blue")).startsWith("True") &&
          countClaimed(stage) === 5,
      );
    },
  },
  {
    title: "a VM moves to another XCP-ng host: the labels of its BareMetalHost follow",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      const vm = findFree(stage, "edge", ROLES.worker);
      const target = [...world.hosts].find(([id]) => vm !== undefined && id !== toPlace(vm));
      if (vm === undefined || target === undefined) return false;
      const [hostId, name] = target;
      tell(`  >  Xen Orchestra migrates ${toName(vm)} to ${name}`);
      world.cloud.state.migrateLive(vm.id, hostId);
      const readLabel = (): string => {
        const host = findHostOf(stage, vm);
        return host === undefined ? "" : labelOf(host, HOST);
      };
      const isMoved = await becomes(stage, signal, () => readLabel() === hostId);
      tell(`  !  ${HOST}=${readLabel()}, the ID of ${name}`);
      return isMoved;
    },
  },
  {
    title: "edge asks for 6 workers: 3 more, with the next free addresses",
    play: async (stage, signal) => {
      stage.tell("  >  kubectl applies the Vino edge with 6 workers");
      stage.world.applyVino("edge", toVinoSpec(6));
      const isDone = await becomes(stage, signal, () => isReady(stage, "edge", 9), LONG_MS);
      return isDone && isEachOnce(stage, "edge", 9);
    },
  },
  {
    title: "a user deletes a VM by hand that nothing uses: Landfall makes it again",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      const free = findFree(stage, "edge", ROLES.worker);
      if (free === undefined) return false;
      tell(`  >  a user deletes ${toName(free)} in Xen Orchestra`);
      world.cloud.state.removeVm(free.id, "go");
      const isBack = await becomes(
        stage,
        signal,
        () => {
          // Its status may still be that of before.
          const again = machinesOf(stage, "edge").find((vm) => toName(vm) === toName(free));
          const isMade = again !== undefined && again.id !== free.id;
          return isMade && findHostOf(stage, again) !== undefined && isReady(stage, "edge", 9);
        },
        LONG_MS,
      );
      return isBack && isEachOnce(stage, "edge", 9);
    },
  },
  {
    title: "edge asks for 4 workers: two VMs go that nothing uses",
    play: async (stage, signal) => {
      stage.tell("  >  kubectl applies the Vino edge with 4 workers");
      stage.world.applyVino("edge", toVinoSpec(4));
      const isDone = await becomes(stage, signal, () => isReady(stage, "edge", 7), LONG_MS);
      return isDone && isEachOnce(stage, "edge", 7) && countClaimed(stage) === 5;
    },
  },
  {
    title: "an edit would remove most workers: Landfall removes none until a person confirms it",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      tell("  >  kubectl applies the Vino edge with 0 workers");
      world.applyVino("edge", toVinoSpec(0));
      const isRefused = await becomes(stage, signal, () => isBlocked(stage, "edge", "FleetLimit"));
      tell(`  !  ${messageOf(world.findVino("edge"), "ContractionBlocked")}`);
      return isRefused && machinesOf(stage, "edge").length === 7;
    },
  },
  {
    title: "the edit is confirmed: workers go that nothing uses, those of blue stay and are named",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      confirmRemoval(stage, "edge");
      const isKept = await becomes(
        stage,
        signal,
        () => isBlocked(stage, "edge", "HostsInUse") && machinesOf(stage, "edge").length === 5,
        LONG_MS,
      );
      tell(`  !  ${messageOf(world.findVino("edge"), "ContractionBlocked")}`);
      return isKept && countClaimed(stage) === 5;
    },
  },
  {
    title: "blue is deleted: its hosts are free, so its workers go",
    play: (stage, signal) => {
      stage.tell("  >  kubectl deletes the SIPCluster blue");
      stage.world.deleteCluster("blue");
      return becomes(
        stage,
        signal,
        () => stage.world.findCluster("blue") === undefined && isReady(stage, "edge", 3),
        LONG_MS,
      );
    },
  },
  {
    title: "lab keeps its VMs when it is deleted (Retain): their hosts go, they stay",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      tell("  >  kubectl applies the Vino lab with 2 workers and deletionPolicy Retain");
      const options = { controlPlanesPerHost: 0, deletionPolicy: "Retain" } as const;
      world.applyVino("lab", toVinoSpec(2, options));
      const isMade = await becomes(stage, signal, () => isReady(stage, "lab", 2), LONG_MS);
      const names = listNames(stage, "lab");
      tell("  >  kubectl deletes the Vino lab");
      world.deleteVino("lab");
      const isGone = await becomes(stage, signal, () => world.findVino("lab") === undefined);
      const isLeft = names.every((name) => world.machines.some((vm) => toName(vm) === name));
      return isMade && isGone && isLeft && names.length === 2;
    },
  },
  {
    title:
      "edge is deleted (Delete), and a person confirms it: VMs and disks go, nothing of others",
    play: async (stage, signal) => {
      const { world, tell } = stage;
      tell("  >  kubectl deletes the Vino edge");
      world.deleteVino("edge");
      await becomes(stage, signal, () => isBlocked(stage, "edge", "FleetLimit"));
      tell(`  !  ${messageOf(world.findVino("edge"), "ContractionBlocked")}`);
      confirmRemoval(stage, "edge");
      const isGone = await becomes(
        stage,
        signal,
        () => world.findVino("edge") === undefined,
        LONG_MS,
      );
      const { foreign } = world.site;
      const isUntouched = world.cloud.state.read("vms", foreign.vmId) !== undefined;
      const left = world.machines.map(toName);
      tell(`  !  left in Xen Orchestra: ${left.join(", ")}, and VMs of others`);
      const orphans = listOrphanDisks(world);
      return isGone && isUntouched && left.length + orphans.length === 2 && countHosts(stage) === 0;
    },
  },
];

function confirmRemoval({ world, tell }: VinoStage, name: string): void {
  const generation = String(world.findVino(name)?.metadata["generation"] ?? "");
  tell(`  >  kubectl annotates ${name} with ${CONFIRMED_REMOVAL}=${generation}`);
  world.annotateVino(name, { [CONFIRMED_REMOVAL]: generation });
}

/** Plays all steps in order, even after one failed. Returns whether every step succeeded. */
export function playVinoStory(stage: VinoStage, signal: AbortSignal): Promise<boolean> {
  return playSteps(stage, { steps: VINO_STEPS, draw: () => drawHosts(stage.world) }, signal);
}
