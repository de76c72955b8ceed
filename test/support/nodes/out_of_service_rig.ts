/**
 * The out-of-service controller and what it lives on, in memory and on a manual clock.
 * @module
 */
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import {
  DEFAULT_OUT_OF_SERVICE,
  type OutOfServiceSettings,
} from "../../../lib/cloud/deletion/streak.ts";
import type {
  PowerQuestion,
  PowerReading,
  ProvenOff,
} from "../../../lib/cloud/capabilities/proven_off.ts";
import { DeletionHolds } from "../../../lib/controllers/node_context.ts";
import { createOutOfServiceMetrics } from "../../../lib/controllers/node_out_of_service/metrics.ts";
import {
  NodeOutOfServiceController,
  type OutOfServiceReport,
} from "../../../lib/controllers/node_out_of_service/mod.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import {
  VOLUME_ATTACHMENTS,
  type VolumeAttachment,
} from "../../../lib/kube/kinds/volume_attachment.ts";
import { HintingProvider, toInstance } from "../cloud/instances.ts";
import { createNodeWorld, type NodeWorld, runController, type SaidEvent } from "./lifecycle_rig.ts";

/** A cloud that can prove that its instances are off. */
class PoweredProvider extends HintingProvider implements ProvenOff {
  readonly provenOff: ProvenOff = this;
  /** Answer of a direct read, when set. */
  power: PowerReading | undefined;
  /** Awaited before a direct read is answered. */
  onPower: () => void | Promise<void> = () => undefined;
  powerReads = 0;
  isPrepared = false;

  prepare(): void {
    this.isPrepared = true;
  }

  isShownOff({ inventory, node }: PowerQuestion): boolean {
    const found = this.findInstance(inventory, node);
    return found.kind === "present" && found.instance.details["powerState"] === "Halted";
  }

  async readPower({ node }: PowerQuestion): Promise<PowerReading> {
    this.powerReads += 1;
    await this.onPower();
    if (this.power) return this.power;
    const instance = this.instances.get(node.providerId?.slice("test://".length) ?? "");
    return instance?.state === "running" ? { kind: "on" } : { kind: "off", evidence: "it is off" };
  }

  /** Changes the power of a machine. */
  setPower(name: string, powerState: "Running" | "Halted" | "Suspended"): void {
    const state = powerState === "Running" ? "running" : "stopped";
    this.instances.set(name, toInstance(name, { state, details: { powerState } }));
  }
}

/** What a test may choose. */
interface OutOfServiceRigOptions {
  /** What differs from the default. */
  readonly settings?: Partial<OutOfServiceSettings>;
  readonly deletion?: Partial<DeletionSettings>;
  /** @default {20} */
  readonly nodes?: number;
  /** Whether VolumeAttachments can be read. @default {true} */
  readonly hasAttachments?: boolean;
}

/** A running controller and its world: Nodes `n0`, `n1` … that are Ready and run. */
interface OutOfServiceRig extends NodeWorld<PoweredProvider>, AsyncDisposable {
  readonly holds: DeletionHolds;
  readonly controller: NodeOutOfServiceController;
  describe(name: string): OutOfServiceReport;
  /** The machine stops, and its kubelet falls silent. */
  halt(...names: readonly string[]): void;
  /** The machine stops, and its Node gets the taint. */
  taint(name: string): Promise<void>;
  /** The machine runs, and its kubelet is Ready after another boot. */
  restart(name: string): void;
  /** The machine runs; its kubelet says nothing yet. */
  boot(name: string): void;
  /** The kubelet reports. @param bootId @default {what it was} */
  report(name: string, status: "True" | "False", bootId?: string): void;
  attach(volume: string, nodeName: string): void;
  detach(volume: string): void;
  /** Whether a Node has the taint. */
  isTainted(name: string): boolean;
  /** Reasons of the Events about a Node, in order. */
  listReasons(name: string): string[];
  /** Moves time on in steps of a second, until `holds` or so many milliseconds went by; returns whether it holds. */
  until(holds: () => boolean, msMax: number): Promise<boolean>;
}

const BOOT = "boot-1";

/** Starts the controller; the first inventory is taken when this returns. */
export async function startOutOfService(
  options: OutOfServiceRigOptions = {},
): Promise<OutOfServiceRig> {
  const world = createNodeWorld(new PoweredProvider());
  const { provider } = world;
  const { clock, server, metrics, events, context } = world;
  const { nodes = 20, hasAttachments = true } = options;
  for (let at = 0; at < nodes; at += 1) {
    world.add(`n${at}`);
    provider.setPower(`n${at}`, "Running");
    report(`n${at}`, "True", BOOT);
  }
  const store = new Store<VolumeAttachment>({ resource: VOLUME_ATTACHMENTS, log: context.log });
  if (hasAttachments) store.replace([], "1");
  const holds = new DeletionHolds();
  const deletion = { ...DEFAULT_DELETION, ...options.deletion };
  const controller = new NodeOutOfServiceController({
    context: { ...context, holds },
    attachments: store,
    settings: { ...DEFAULT_OUT_OF_SERVICE, ...options.settings },
    findDeletion: () => deletion,
    metrics: createOutOfServiceMetrics(metrics),
    syncPeriodMs: 10_000,
    leastGraceMs: 0,
  });
  const running = await runController(world, controller);

  function report(name: string, status: string, bootId?: string): void {
    const node = server.find(name);
    if (node === undefined) throw new RangeError(`There is no Node ${name}`);
    const nodeInfo = {
      systemUUID: "",
      ...node.status?.nodeInfo,
      ...(bootId && { bootID: bootId }),
    };
    const conditions = [{ type: "Ready", status }];
    server.put({ ...node, status: { ...node.status, conditions, nodeInfo } });
  }

  function halt(...names: readonly string[]): void {
    for (const name of names) {
      provider.setPower(name, "Halted");
      server.setReady(name, "Unknown");
    }
  }

  async function until(isTrue: () => boolean, msMax: number): Promise<boolean> {
    const endMs = clock.monotonic() + msMax;
    while (!isTrue() && clock.monotonic() < endMs) await clock.advance(1_000);
    return isTrue();
  }

  return {
    ...world,
    ...running,
    holds,
    controller,
    describe: (name) => controller.describe(demand(world, name)),
    halt,
    async taint(name) {
      halt(name);
      const isDone = await until(() => hasTaint(server.find(name)), 120_000);
      if (!isDone) throw new Error(`Node ${name} was not tainted`);
    },
    restart(name) {
      provider.setPower(name, "Running");
      report(name, "True", "boot-2");
    },
    boot: (name) => provider.setPower(name, "Running"),
    report,
    attach: (volume, nodeName) =>
      store.apply({ metadata: { name: volume, uid: volume }, spec: { nodeName } }),
    detach(volume) {
      const attachment = store.get(volume);
      if (attachment) store.remove(attachment);
    },
    isTainted: (name) => hasTaint(server.find(name)),
    listReasons: (name) =>
      events.filter((event: SaidEvent) => event.node === name).map(({ reason }) => reason),
    until,
  };
}

function demand({ nodes }: NodeWorld, name: string): Node {
  const node = nodes.get(name);
  if (node === undefined) throw new RangeError(`There is no Node ${name}`);
  return node;
}

function hasTaint(node: Node | undefined): boolean {
  return (
    node?.spec?.taints?.some(
      ({ key, value, effect }) =>
        key === "node.kubernetes.io/out-of-service" &&
        value === "nodeshutdown" &&
        effect === "NoExecute",
    ) ?? false
  );
}
