/**
 * Management controllers over machines and Secrets in memory.
 * @module
 */
import { createRedfish, type Redfish } from "../../../lib/controllers/vino/redfish/redfish.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createRedfishMetrics } from "../../../lib/http/redfish/metrics.ts";
import { createRedfishService } from "../../../lib/http/redfish/service.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { VinoManagement } from "../../../lib/controllers/vino/redfish/management.ts";
import { BOOT_OVERRIDE } from "../../../lib/controllers/vino/redfish/words.ts";
import type { ManagedMachine } from "../../../lib/controllers/vino/redfish/credentials.ts";
import { MachinePowerDouble } from "../cloud/machine_power_double.ts";
import { ManualClock } from "../manual_clock.ts";

/** User and password of a machine of the rig. */
export function loginOf(id: string): { readonly username: string; readonly password: string } {
  return { username: `user-${id}`, password: `password-${id}` };
}

/** The Secrets of an API server in memory: only what management controllers ask of it. */
export class SecretsDouble implements Pick<KubeClient, "read" | "create" | "patch"> {
  readonly #secrets = new Map<string, KubeObject & { readonly data?: Record<string, string> }>();
  #version = 1;
  reads = 0;
  /** Runs before and after each call; throws to break it. */
  onCall: (call: string, when: "before" | "after") => void = () => {};

  /** Sets user and password. */
  set(name: string, texts: Readonly<Record<string, string>>): void {
    this.#version += 1;
    const entries = Object.entries(texts);
    const data = Object.fromEntries(
      entries.map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    );
    const old = this.#secrets.get(name)?.metadata;
    const metadata = { ...old, name, resourceVersion: String(this.#version) };
    this.#secrets.set(name, { metadata, data });
  }

  delete(name: string): void {
    this.#secrets.delete(name);
  }

  /** The boot override of a machine, as it is written down. */
  override(id: string): string | undefined {
    return this.#secrets.get(`${id}-boot-override`)?.metadata.annotations?.[BOOT_OVERRIDE];
  }

  /** The version of a Secret. */
  version(name: string): string | undefined {
    return this.#secrets.get(name)?.metadata.resourceVersion;
  }

  async create<T extends KubeObject>(...[, , body]: Parameters<KubeClient["create"]>): Promise<T> {
    const { metadata } = body as KubeObject;
    return await this.#call(`create ${metadata.name}`, () => {
      if (this.#secrets.has(metadata.name)) throw new KubeError("alreadyExists", metadata.name);
      this.#version += 1;
      const secret = { metadata: { ...metadata, resourceVersion: String(this.#version) } };
      this.#secrets.set(metadata.name, secret);
      return secret as KubeObject as T;
    });
  }

  async read<T extends KubeObject>(
    ...[, { name = "" }]: Parameters<KubeClient["read"]>
  ): Promise<T> {
    this.reads += 1;
    return await this.#call(`get ${name}`, () => this.#find(name) as KubeObject as T);
  }

  async patch<T extends KubeObject>(
    ...[, { name = "" }, { body }]: Parameters<KubeClient["patch"]>
  ): Promise<T> {
    return await this.#call(`patch ${name}`, () => {
      const secret = this.#find(name);
      const { metadata } = body as { metadata: KubeObject["metadata"] };
      if (metadata.resourceVersion !== secret.metadata.resourceVersion) {
        throw new KubeError("conflict", "the object has been modified");
      }
      this.#version += 1;
      const merged = { ...secret.metadata.annotations, ...metadata.annotations };
      const annotations = Object.fromEntries(
        Object.entries(merged).filter(([, value]) => value !== null),
      );
      const resourceVersion = String(this.#version);
      const next = { ...secret, metadata: { ...secret.metadata, annotations, resourceVersion } };
      this.#secrets.set(name, next);
      return next as KubeObject as T;
    });
  }

  #find(name: string): KubeObject & { readonly data?: Record<string, string> } {
    const secret = this.#secrets.get(name);
    if (secret === undefined) throw new KubeError("notFound", `no Secret ${name}`);
    return secret;
  }

  async #call<T>(call: string, work: () => T): Promise<T> {
    await Promise.resolve();
    this.onCall(call, "before");
    const result = work();
    this.onCall(call, "after");
    return result;
  }
}

/** A process that may lead. */
interface ManagementProcess {
  readonly management: VinoManagement;
  /** Runs it as the leader until it is stopped. */
  lead(): void;
  /** As if it had been killed. */
  kill(): void;
}

/** Machines, Secrets and processes. */
export class ManagementRig {
  readonly clock: ManualClock = new ManualClock();
  readonly power: MachinePowerDouble;
  readonly secrets: SecretsDouble = new SecretsDouble();
  machines: readonly ManagedMachine[];
  /** What the people of a Vino were told. */
  readonly warnings: string[] = [];
  /** The messages of warnings in the log. */
  readonly logged: string[] = [];

  constructor(power: MachinePowerDouble = new MachinePowerDouble()) {
    this.power = power;
    const vino = { name: "edge", uid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427" };
    this.machines = [...power.machines.values()].map(({ id, name }) => {
      const secretName = `${id}-bmc-credentials`;
      this.secrets.set(secretName, loginOf(id));
      return {
        id,
        name,
        namespace: "metal",
        secretName,
        overrideName: `${id}-boot-override`,
        vino,
        isInstalled: true,
      };
    });
  }

  /** Starts a process. */
  createProcess(): ManagementProcess {
    const { clock, power, secrets } = this;
    const fence = new Fence();
    const ended = new AbortController();
    const held = { ...ALONE, signal: ended.signal, isHeld: () => !ended.signal.aborted };
    fence.follow(held);
    const management = new VinoManagement({
      listMachines: () => this.machines,
      power,
      client: {
        read: (...args) => secrets.read(...args),
        create: (...args) => {
          fence.check();
          return secrets.create(...args);
        },
        patch: (...args) => {
          fence.check();
          return secrets.patch(...args);
        },
      },
      fence,
      clock,
      log: { ...silentLogger, warn: (message) => void this.logged.push(message) },
      warn: (_machine, message) => void this.warnings.push(message),
    });
    return {
      management,
      lead: () => void management.run(ended.signal),
      kill: () => ended.abort(new LeadershipLostError("killed")),
    };
  }
}

type RedfishWorld = Pick<
  Parameters<typeof createRedfish>[0],
  "client" | "clock" | "objects" | "power" | "vinoes"
>;

/** The management controllers of Vinos as a process has them that leads, and what answers their clients. */
export function openRedfish(
  world: RedfishWorld,
  signal: AbortSignal,
): { readonly redfish: Redfish; readonly service: ReturnType<typeof createRedfishService> } {
  const common = { clock: world.clock, log: silentLogger };
  const redfish = createRedfish({
    settings: { address: "0.0.0.0:8443", url: new URL("https://redfish.metal.svc:8443") },
    fence: new Fence(ALONE),
    events: { record: () => {} },
    ...common,
    ...world,
  });
  const { management } = redfish.listener;
  const metrics = createRedfishMetrics(new MetricsRegistry());
  const service = createRedfishService({ management, metrics, ...common, version: "1", signal });
  return { redfish, service };
}
