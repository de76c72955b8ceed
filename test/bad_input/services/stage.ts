/**
 * A Service with hostile values beside a good one, in a simulated cluster and a simulated CloudStack.
 * @module
 */
import { expect } from "bun:test";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import type { NetworkKind } from "../../support/cloud/cloudstack_network_kinds.ts";
import {
  type AddressSummary,
  summarizeCloud,
} from "../../../lib/simulator/cloudstack/world/summary.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { tries } from "../../support/extent.ts";
import { createSite, USED_IP } from "../../support/services/site.ts";
import { Stage } from "./memory_stage.ts";
import { toLoadBalancerRule } from "../../support/cloud/cloudstack_rules.ts";

/** Values of annotations and text fields that mean nothing good. */
const HOSTILE_VALUES: readonly string[] = [
  " ",
  "\u0000\u001b[31m\r\n\u202e",
  "\ud800",
  "x".repeat(200_000),
  "__proto__",
  "constructor",
  "toString",
  "NaN",
  "-1",
  "1e308",
  "[".repeat(10_000),
  `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "10.0.0.0/8,",
  "10.0.0.0/33",
  "10.0.0.0/-0",
  "0x0a.0.0.1/8",
  "fe80::1%eth0/64",
  "a0123456789abcdef0123456789abcde-tcp-80",
  "fe80::1%eth0",
  "0.0.0.0",
  "127.0.0.1",
  "10.0.0.1 10.0.0.2",
  "${jndi:ldap://a}",
];

/** In a usual run, each table tries every so many of the values, and begins with another one. */
const STRIDE = 6;

/** The values that a table tries: in a long run (`LANDFALL_RUNS=20`) all. @param table Number of the table */
export function pickValues(table: number): readonly string[] {
  const stride = Math.max(1, Math.ceil(STRIDE / tries(1).numRuns));
  return HOSTILE_VALUES.filter((_value, at) => at % stride === table % stride);
}

/** Makes sure that the message of an Event is not too long, and in plain text. */
export function checkMessage(message: string): void {
  expect(message.length).toBeLessThanOrEqual(MESSAGE_CHARS_MAX);
  expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
}

/** What is asked of a Service besides one TCP port. */
interface Asked {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

/** A firewall rule: ports, and who may connect. */
interface Opening {
  readonly ports: string;
  readonly sources: readonly string[];
}

/** No message is longer: that of an Event may have 1,024 bytes. */
const MESSAGE_CHARS_MAX = 1_000;
/** Longer than the longest pause between two tries. */
const PATIENCE_MS = 1_200_000;
/** In which a Service beside a bad one has its address. */
const SOON_MS = 60_000;
const STEP_MS = 5_000;
const PORT = { name: "http", port: 80, nodePort: 30_080, protocol: "TCP", targetPort: 8_080 };
const BESIDE = "beside";
const toName = (name: string) => ({ name, namespace: "default" });

/** A cluster with Services, and its cloud. Beside the Services there are rules that look like theirs. */
export class OddStage implements AsyncDisposable {
  readonly stage: Stage;
  readonly #before: readonly AddressSummary[];

  constructor(network: NetworkKind = "isolated") {
    const site = createSite(network);
    const used = [...(site.world.publicIps ?? [])].find(({ address }) => address === USED_IP);
    if (used === undefined) throw new Error("There is no address of the user");
    const name = `a${"0123456789abcdef".repeat(2)}`.slice(0, 32);
    const lookalike = toLoadBalancerRule({ ip: used, name: `${name}-tcp-9443`, publicPort: 9_443 });
    const loadBalancerRules = [...(site.world.loadBalancerRules ?? []), lookalike];
    this.stage = new Stage({ ...site, world: { ...site.world, loadBalancerRules } });
    this.#before = this.#listAddresses();
  }

  /** Creates a Service of type LoadBalancer. */
  create(name: string, { annotations = {}, spec = {}, status }: Asked = {}): void {
    this.stage.objects.create("services", {
      metadata: { ...toName(name), annotations },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [PORT], ...spec },
    });
    if (status) this.stage.objects.patch("services", toStatus(name), { status });
  }

  /** Changes it by merge patches. */
  change(
    name: string,
    { annotations, spec, status }: Partial<Record<keyof Asked, JsonObject>>,
  ): void {
    const { objects } = this.stage;
    const patch = { ...(annotations && { metadata: { annotations } }), ...(spec && { spec }) };
    objects.patch("services", toName(name), patch);
    if (status) objects.patch("services", toStatus(name), { status });
  }

  find(name: string): Service | undefined {
    return this.stage.objects.get("services", toName(name)) as unknown as Service | undefined;
  }

  /** The first entry of the status. */
  readAddress(name: string): string | undefined {
    const [first] = this.find(name)?.status?.loadBalancer?.ingress ?? [];
    return first?.ip ?? first?.hostname;
  }

  /** Lets time pass until this is so. @throws {Error} if it does not come */
  async until(what: string, isSo: () => boolean, patienceMs: number = PATIENCE_MS): Promise<void> {
    const { clock } = this.stage;
    for (const endMs = clock.monotonic() + patienceMs; !isSo();) {
      if (clock.monotonic() >= endMs) throw new Error(`${what}: ${this.listSaid().join("\n")}`);
      await clock.advance(STEP_MS);
    }
  }

  /** Creates another Service, which gets its address in time. */
  async checkBeside(): Promise<void> {
    this.create(BESIDE, { spec: { ports: [{ ...PORT, port: 81, nodePort: 30_081 }] } });
    const isThere = (): boolean => this.readAddress(BESIDE) !== undefined;
    await this.until("the one beside it has no address", isThere, SOON_MS);
  }

  /** Deletes a Service and the one beside it, which ends. */
  async remove(name: string): Promise<void> {
    const names = [name, BESIDE];
    for (const one of names) this.stage.objects.delete("services", toName(one));
    const isOver = (): boolean => names.every((one) => this.find(one) === undefined);
    await this.until("a Service stays", isOver);
  }

  /** Nothing that belongs to others is changed. */
  checkForeign(): void {
    const known = new Set(this.#before.map(({ address }) => address));
    expect(this.#listAddresses().filter(({ address }) => known.has(address))).toEqual([
      ...this.#before,
    ]);
  }

  /** The cloud is as it was before all Services. */
  checkNothingLeft(): void {
    const { addresses, orphans } = summarizeCloud(this.stage.cloud.state);
    expect({ addresses, orphans }).toEqual({ addresses: [...this.#before], orphans: [] });
  }

  /** Addresses with tags of Landfall. */
  listOwned(): readonly string[] {
    return this.#listAddresses()
      .filter(({ tags }) => "landfall.dev/service-uid" in tags)
      .map(({ address }) => address);
  }

  /** What the firewall rules let in, without those of the Service beside. */
  listOpenings(): Opening[] {
    return this.#listAddresses()
      .filter(({ tags }) => "landfall.dev/service-uid" in tags)
      .flatMap(({ firewallRules }) => firewallRules as Opening[])
      .filter(({ ports }) => ports !== "81-81");
  }

  /** Messages of the warnings since the last call. None is too long or not in plain text. */
  listSaid(): string[] {
    const events = this.stage.objects.list("events") as unknown as readonly {
      readonly type: string;
      readonly reason: string;
      readonly message: string;
    }[];
    const said = events.filter(({ type }) => type === "Warning");
    for (const { message } of said) checkMessage(message);
    return said.map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Forgets the Events. */
  clearSaid(): void {
    const { objects } = this.stage;
    for (const { metadata } of objects.list("events")) {
      objects.delete("events", {
        name: String(metadata["name"]),
        namespace: String(metadata["namespace"]),
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }

  #listAddresses(): readonly AddressSummary[] {
    return summarizeCloud(this.stage.cloud.state).addresses;
  }
}

function toStatus(name: string) {
  return { ...toName(name), subresource: "status" };
}
