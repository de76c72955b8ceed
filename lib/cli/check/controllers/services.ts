/**
 * Services of type LoadBalancer, for `landfall check`: who serves them, and which ones wait.
 * @module
 */
import { asksForDhcp, parseRequest } from "../../../cloud/pools/request.ts";
import type { ProviderInstall } from "../../../cloud/provider_definition.ts";
import type { ControllerDefinition, FlagValues } from "../../../controllers/definition.ts";
import { CLASSLESS_FLAG, readClasses } from "../../../controllers/service/flags.ts";
import { isWanted, toClaim } from "../../../controllers/service/spec.ts";
import { NAME, RECORD } from "../../../controllers/service/words.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { findHolder } from "../../../kube/election/lease.ts";
import { LEASES } from "../../../kube/kinds/lease.ts";
import { hasCloudLoadBalancer, type Service, SERVICES } from "../../../kube/kinds/service.ts";
import { listObjects } from "../../listing.ts";
import { isHeldNow } from "../leases/other_leaders.ts";
import type { CheckFinding } from "../report.ts";
import { listUnknownKeys } from "../own_objects.ts";

/** What {@linkcode checkServices} looks with. */
interface ServiceSearch {
  readonly client: KubeClient;
  /** The controllers that run. */
  readonly chosen: readonly Pick<ControllerDefinition, "name">[];
  readonly flags: FlagValues;
  readonly install: Pick<ProviderInstall, "other" | "serviceLease"> | undefined;
  /** Namespace of Leases. */
  readonly namespace: string;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/** What was found, and the Services that Landfall serves. */
export interface CheckedServices {
  readonly findings: readonly CheckFinding[];
  readonly served: readonly Service[];
}

const NAMED_MAX = 5;

/**
 * Says which Services wait for a load balancer of Landfall, and whether another program manages them, too, or none.
 * Asks nothing if Landfall serves none and no program besides it ever did.
 *
 * @throws the signal's reason
 */
export async function checkServices(
  search: ServiceSearch,
  signal: AbortSignal,
): Promise<CheckedServices> {
  const { client, chosen, flags, install } = search;
  const isServing = chosen.some(({ name }) => name === NAME);
  if (!isServing && install?.serviceLease === undefined) return { findings: [], served: [] };
  const classes = readClasses(flags);
  try {
    const items = await listObjects(client, SERVICES, signal);
    const manager = await findManager(search, signal);
    if (!isServing) {
      const findings = listUnserved(items.filter(hasCloudLoadBalancer), search, manager);
      return { findings, served: [] };
    }
    const served = items.filter((service) => isWanted(service, classes));
    const findings = [
      ...listRivals(search, manager),
      ...listWaiting(served),
      ...listUnknownKeys("Service", items),
      ...(classes.servesClassless ? [] : listClassless(items)),
    ];
    return { findings, served };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KubeError)) throw error;
    const message = `cannot list Services, so it is not known whether some wait for a load balancer: ${error.message}`;
    const advice = "run landfall check with a kubeconfig that may list Services";
    return { findings: [{ level: "warning", code: "services", message, advice }], served: [] };
  }
}

function listWaiting(served: readonly Service[]): CheckFinding[] {
  const code = "services";
  const waiting = served.filter(isWaiting);
  const total = `${served.length} ${served.length === 1 ? "Service" : "Services"} of type LoadBalancer`;
  if (served.length === 0) {
    return [{ level: "ok", code, message: "no Service asks for a load balancer of Landfall" }];
  }
  if (waiting.length === 0)
    return [{ level: "ok", code, message: `${total}, each with an address` }];
  const what = `${waiting.length} of ${total} have no address yet, or another one than they ask for`;
  const message = `${what}: ${nameFirst(waiting)}`;
  const advice =
    "kubectl describe service shows why one waits; if it shows no Event of Landfall, none runs with the controller " +
    "service: see its --controllers";
  return [{ level: "warning", code, message, advice }];
}

/** An operator may not know that the flag for a class leaves Services without one to another program. */
function listClassless(services: readonly Service[]): CheckFinding[] {
  const left = services.filter((service) => isWanted(service, { servesClassless: true }));
  if (left.length === 0) return [];
  const verb = left.length === 1 ? "Service" : "Services";
  const message = `Landfall does not serve ${left.length} ${verb} without a class: ${nameFirst(left)}`;
  const advice = `if no other program serves them, start Landfall with --${CLASSLESS_FLAG.name}=true`;
  const isMade = left.some(
    (one) => hasCloudLoadBalancer(one) || one.metadata.annotations?.[RECORD] !== undefined,
  );
  return [{ level: isMade ? "warning" : "ok", code: "services", message, advice }];
}

/** Two programs that manage the same load balancers undo each other's changes. */
function listRivals({ install }: ServiceSearch, manager: string | undefined): CheckFinding[] {
  if (manager === undefined) return [];
  const message = `${manager} manages Services of type LoadBalancer, too, if it is the ${install?.other}`;
  const advice =
    "stop it before Landfall starts, or start Landfall with -service in the list of --controllers";
  return [{ level: "failure", code: "serviceController", message, advice }];
}

/** Without the controller `service`, another program must manage the load balancers that there are. */
function listUnserved(
  services: readonly Service[],
  { install, namespace }: ServiceSearch,
  manager: string | undefined,
): CheckFinding[] {
  const lease = install?.serviceLease;
  if (lease === undefined || services.length === 0) return [];
  const verb = services.length === 1 ? "Service has" : "Services have";
  const what = `${services.length} ${verb} a load balancer of the cloud (${nameFirst(services)})`;
  const code = "serviceController";
  if (manager !== undefined) {
    const message = `${what}; ${manager} manages them, if it is the ${install?.other}`;
    return [{ level: "ok", code, message }];
  }
  const why = "Landfall runs without the controller service, and no process holds Lease";
  const message = `${what}, ${why} ${namespace}/${lease}`;
  const advice = "add service to --controllers, so that Landfall manages them";
  return [{ level: "failure", code, message, advice }];
}

/** The program that renews the Lease for Services. @throws the signal's reason */
async function findManager(
  { client, install, namespace, nowMs }: ServiceSearch,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = install?.serviceLease;
  if (name === undefined) return undefined;
  try {
    const lease = await client.read(LEASES, { namespace, name }, signal);
    if (!isHeldNow(lease, nowMs)) return undefined;
    return `the holder of Lease ${namespace}/${name} (${findHolder(lease)})`;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

/** Whether a Service has no address yet, or not the one that it asks for, or asks in a form that cannot be read. */
export function isWaiting(service: Service): boolean {
  if ((service.status?.loadBalancer?.ingress ?? []).length === 0) return true;
  const claim = toClaim(service);
  if (asksForDhcp(claim)) return false;
  const has = new Set(claim.ingress.flatMap((one) => ("ip" in one ? one.ip : [])));
  const { addresses, problem } = parseRequest(claim, false);
  return problem !== undefined || [...addresses.values()].some((one) => !has.has(one));
}

/** The names of a few: `web/a, web/b`. */
export function nameFirst(services: readonly Service[]): string {
  const names = services
    .slice(0, NAMED_MAX)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return services.length > NAMED_MAX ? `${names.join(", ")}, …` : names.join(", ");
}
