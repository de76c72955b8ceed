/**
 * Gives Services their cluster IPs and node ports. What is taken is read from the Services that are stored.
 * @module
 */
import { isInCidr, parseCidr } from "../../../core/net/ip.ts";
import { assert } from "../../../core/errors.ts";
import { ApiError, type FieldProblem } from "../api_error.ts";
import type { JsonObject } from "../patches/json.ts";
import type { Collection } from "../store.ts";
import { needsHealthPort, needsNodePorts, numberAt, portsOf, specOf, textsAt } from "./service.ts";

/** The cluster has one family, as most have. */
const CLUSTER_IPS = "10.96.0.0/12";
const [LOW_PORT, HIGH_PORT] = [30_000, 32_767];

/** A Service with what it was given, and what it may not have. */
interface Allocated {
  readonly service: JsonObject;
  readonly problems: readonly FieldProblem[];
}

/** Knows which addresses and node ports are taken. */
export class ServiceAllocation {
  readonly #takenIps = new Set<string>();
  readonly #takenPorts = new Set<number>();
  /** The newest ones given, so that what was just freed is not given again at once. */
  #lastIp: bigint | undefined;
  #lastPort = 0;

  /** @param services Where they are stored, still empty */
  constructor(services: Collection) {
    services.subscribe(({ type, current, previous }) => {
      if (previous !== undefined) this.#note(previous.object, false);
      if (type !== "DELETED") this.#note(current.object, true);
    });
  }

  /** Adds the cluster IP that a Service lacks. What it names itself must be free. */
  withClusterIp(service: JsonObject, before: JsonObject | undefined): Allocated {
    const spec = specOf(service);
    const [named] = textsAt(spec, "clusterIPs");
    if (named === "None") return { service, problems: [] };
    const isOwn = before !== undefined && textsAt(specOf(before), "clusterIPs")[0] === named;
    const fault = named === undefined || isOwn ? undefined : this.#findFault(named);
    const problems = fault === undefined ? [] : [toProblem("spec.clusterIPs", [named], fault)];
    const clusterIP = named ?? this.#nextIp();
    return {
      service: { ...service, spec: { ...spec, clusterIP, clusterIPs: [clusterIP] } },
      problems,
    };
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

  #nextIp(): string {
    const range = parseCidr(CLUSTER_IPS);
    assert(range !== undefined, `no range: ${CLUSTER_IPS}`);
    let bits = this.#lastIp ?? range.first;
    for (let tries = 0; tries <= this.#takenIps.size; tries += 1) {
      bits = bits >= range.last ? range.first + 1n : bits + 1n;
      const text = formatIp(bits);
      if (this.#takenIps.has(text)) continue;
      this.#lastIp = bits;
      return text;
    }
    throw new ApiError(500, "InternalError", "failed to allocate a serviceIP: range is full");
  }

  #nextPort(reserved: Set<number>): number {
    const size = HIGH_PORT - LOW_PORT + 1;
    for (let step = 1; step <= size; step += 1) {
      const port = LOW_PORT + ((Math.max(this.#lastPort, LOW_PORT - 1) - LOW_PORT + step) % size);
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
    const range = parseCidr(CLUSTER_IPS);
    if (range !== undefined && isInCidr(ip, range)) return undefined;
    return `${error} not in the valid range. The range of valid IPs is ${CLUSTER_IPS}`;
  }

  #findPortFault(port: number): string | undefined {
    if (this.#takenPorts.has(port)) return "provided port is already allocated";
    if (LOW_PORT <= port && port <= HIGH_PORT) return undefined;
    const range = `${LOW_PORT}-${HIGH_PORT}`;
    return `provided port is not in the valid range. The range of valid ports is ${range}`;
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

function formatIp(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 255n)).join(".");
}
