/**
 * Gives Services their cluster IPs and node ports. What is taken is read from the Services that are stored.
 * @module
 */
import { isInCidr, parseCidr, parseIp, type Cidr } from "../../../core/net/ip.ts";
import { ApiError, type FieldProblem } from "../api_error.ts";
import type { JsonObject } from "../patches/json.ts";
import type { Collection } from "../store.ts";
import { needsHealthPort, needsNodePorts, numberAt, portsOf, specOf, textsAt } from "./service.ts";

/** From where a cluster allocates. */
interface ServiceRanges {
  /** Ranges of cluster IPs, `--service-cluster-ip-range`: one, or one of each family. */
  readonly clusterIps: readonly string[];
  /** First and last node port, `--service-node-port-range`. */
  readonly nodePorts: readonly [number, number];
}

/** A Service with what it was given, and what it may not have. */
interface Allocated {
  readonly service: JsonObject;
  readonly problems: readonly FieldProblem[];
}

/** Family of an address or a range, as Services name it. */
export type IpFamily = "IPv4" | "IPv6";

interface Range {
  readonly family: IpFamily;
  readonly text: string;
  readonly cidr: Cidr;
}

/** Knows which addresses and node ports are taken. */
export class ServiceAllocation {
  readonly #ranges: readonly Range[];
  readonly #nodePorts: readonly [number, number];
  readonly #takenIps = new Set<string>();
  readonly #takenPorts = new Set<number>();
  /** The newest one given, so that what was just freed is not given again at once. */
  readonly #lastIps = new Map<Range, bigint>();
  #lastPort = 0;

  constructor(services: Collection, ranges: ServiceRanges) {
    this.#ranges = ranges.clusterIps.map(toRange);
    this.#nodePorts = ranges.nodePorts;
    services.subscribe(({ type, current, previous }) => {
      if (previous !== undefined) this.#note(previous.object, false);
      if (type !== "DELETED") this.#note(current.object, true);
    });
  }

  /** The families of the cluster; the first is the one that Services get unless they say otherwise. */
  get families(): readonly IpFamily[] {
    return this.#ranges.map(({ family }) => family);
  }

  /** Adds cluster IPs for the families of a Service that lacks them. What it names itself must be free. */
  withClusterIps(
    service: JsonObject,
    families: readonly IpFamily[],
    before: JsonObject | undefined,
  ): Allocated {
    const spec = specOf(service);
    const named = textsAt(spec, "clusterIPs");
    if (named[0] === "None") return { service, problems: [] };
    const own = new Set(before === undefined ? [] : textsAt(specOf(before), "clusterIPs"));
    const problems: FieldProblem[] = [];
    const clusterIPs = families.map((family, index) => {
      const ip = named[index];
      if (ip === undefined) return this.#nextIp(family);
      const fault = own.has(ip) ? undefined : this.#findFault(ip);
      if (fault !== undefined) problems.push(toProblem("spec.clusterIPs", [ip], fault));
      return ip;
    });
    const [clusterIP = ""] = clusterIPs;
    return { service: { ...service, spec: { ...spec, clusterIP, clusterIPs } }, problems };
  }

  /** Adds the node ports that a Service lacks, that of its health checks included. */
  withNodePorts(service: JsonObject, before: JsonObject | undefined): Allocated {
    const own = new Set(before === undefined ? [] : nodePortsOf(before));
    const given = new Map<number, number>();
    const problems: FieldProblem[] = [];
    const check = (port: number, field: string): void => {
      const fault = own.has(port) ? undefined : this.#findPortFault(port);
      if (fault !== undefined) problems.push(toProblem(field, port, fault));
    };
    const isWanted =
      needsNodePorts(service) && specOf(service)["allocateLoadBalancerNodePorts"] !== false;
    const spec = specOf(service);
    const reserved = new Set(nodePortsOf(service));
    const ports = portsOf(service).map((port, index) => {
      const nodePort = numberAt(port, "nodePort");
      if (nodePort !== 0) check(nodePort, `spec.ports[${index}].nodePort`);
      if (nodePort !== 0 || !isWanted) return port;
      // Two protocols on one port share a node port.
      const chosen = given.get(numberAt(port, "port")) ?? this.#nextPort(reserved);
      given.set(numberAt(port, "port"), chosen);
      return { ...port, nodePort: chosen };
    });
    const health = numberAt(spec, "healthCheckNodePort");
    if (health !== 0) check(health, "spec.healthCheckNodePort");
    const isHealthWanted = needsHealthPort(service) && health === 0;
    const more = {
      ...(ports.length > 0 && { ports }),
      ...(isHealthWanted && { healthCheckNodePort: this.#nextPort(reserved) }),
    };
    return { service: { ...service, spec: { ...spec, ...more } }, problems };
  }

  #nextIp(family: IpFamily): string {
    const range = this.#ranges.find((one) => one.family === family);
    if (range === undefined) throw new TypeError(`Cannot allocate: no range of ${family}`);
    const { first, last } = range.cidr;
    const start = this.#lastIps.get(range) ?? first;
    let bits = start;
    for (let tries = 0; tries <= this.#takenIps.size; tries += 1) {
      bits = bits >= last ? first + 1n : bits + 1n;
      const text = formatBits(family, bits);
      if (this.#takenIps.has(text)) continue;
      this.#lastIps.set(range, bits);
      return text;
    }
    throw new ApiError(500, "InternalError", "failed to allocate a serviceIP: range is full");
  }

  #nextPort(reserved: Set<number>): number {
    const [low, high] = this.#nodePorts;
    const size = high - low + 1;
    for (let step = 1; step <= size; step += 1) {
      const port = low + ((Math.max(this.#lastPort, low - 1) - low + step) % size);
      if (this.#takenPorts.has(port) || reserved.has(port)) continue;
      this.#lastPort = port;
      reserved.add(port);
      return port;
    }
    throw new ApiError(500, "InternalError", "failed to allocate a nodePort: range is full");
  }

  #findFault(ip: string): string | undefined {
    const error = `failed to allocated ip:${ip} with error:provided IP is`;
    if (this.#takenIps.has(ip)) return `${error} already allocated`;
    if (this.#ranges.some(({ cidr }) => isInCidr(ip, cidr))) return undefined;
    const texts = this.#ranges.map(({ text }) => text).join(",");
    return `${error} not in the valid range. The range of valid IPs is ${texts}`;
  }

  #findPortFault(port: number): string | undefined {
    const [low, high] = this.#nodePorts;
    if (this.#takenPorts.has(port)) return "provided port is already allocated";
    if (low <= port && port <= high) return undefined;
    return `provided port is not in the valid range. The range of valid ports is ${low}-${high}`;
  }

  #note(service: JsonObject, isTaken: boolean): void {
    const change = <T>(set: Set<T>, item: T): unknown =>
      isTaken ? set.add(item) : set.delete(item);
    for (const ip of textsAt(specOf(service), "clusterIPs"))
      if (ip !== "None") change(this.#takenIps, ip);
    for (const port of nodePortsOf(service)) change(this.#takenPorts, port);
  }
}

function nodePortsOf(service: JsonObject): readonly number[] {
  const health = numberAt(specOf(service), "healthCheckNodePort");
  const ports = portsOf(service).map((port) => numberAt(port, "nodePort"));
  return [...ports, health].filter((port) => port !== 0);
}

function toProblem(field: string, value: unknown, rule: string): FieldProblem {
  const message = `Invalid value: ${JSON.stringify(value)}: ${rule}`;
  return { field, reason: "FieldValueInvalid", message };
}

function toRange(text: string): Range {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new TypeError(`Cannot read range of cluster IPs: ${text}`);
  return { family: cidr.family === 4 ? "IPv4" : "IPv6", text, cidr };
}

function formatBits(family: IpFamily, bits: bigint): string {
  const [width, radix, separator] = family === "IPv4" ? [8, 10, "."] : [16, 16, ":"];
  const count = family === "IPv4" ? 4 : 8;
  const groups = Array.from({ length: count }, (_, index) =>
    ((bits >> BigInt(width * (count - 1 - index))) & ((1n << BigInt(width)) - 1n)).toString(radix),
  );
  return parseIp(groups.join(separator))?.text ?? "";
}
