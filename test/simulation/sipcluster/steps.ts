/**
 * What may happen to tenants, hosts, processes, networks and the API server.
 * @module
 */
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  breakHost,
  changeNetworks,
  mendHost,
  OAM_NETWORK,
} from "../../../lib/simulator/metal3/hosts.ts";
import { consumerOf, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import type { Random } from "../../support/random.ts";
import { CONTROLLER_PROCESS_STEPS, listServerSteps } from "../steps/controller.ts";
import { listPauseSteps, onHost, toMachineEnd } from "../steps/hosts.ts";
import { clusterOf, isFree, LABELS, ROLES, troubleOf } from "./hosts.ts";
import { keyOf } from "./judge.ts";
import { NAMES, type Order, type SipWorld, TENANTS } from "./world.ts";
import { type Step, toStep, toStepOf } from "../steps/mod.ts";

/** One thing that may happen. */
type SipStep = Step<SipWorld>;

/** The cluster name of another program that takes hosts by the same labels. */
export const RIVAL = "rival";

/** What a cluster may ask for. */
export function drawOrder(random: Random): Order {
  return {
    controlPlanes: random.pick([0, 1, 1, 2, 3]),
    workers: random.between(0, 4),
    standby: random.pick([0, 0, 1, 2]),
    spreadsWorkers: random.chance(0.5),
  };
}

const PEOPLE: readonly SipStep[] = [
  toStep("order", 10, (world) => {
    const name = world.random.pick(NAMES);
    const order = drawOrder(world.random);
    world.order(name, order);
    return `${name} ${JSON.stringify(order)}`;
  }),
  onCluster("delete cluster", 3, ({ objects }, name) => {
    objects.delete("sipclusters", { namespace: TENANTS, name });
    return name;
  }),
  onCluster("add machine", 8, (world, name) => world.addMachine(name, world.random.pick(ROLES))),
  toMachineEnd(6),
  toStep("edit by hand", 3, ({ objects, random }) => {
    const plural = random.pick(["services", "deployments", "configmaps"] as const);
    const all = objects.list(plural, TENANTS);
    if (all.length === 0) return undefined;
    const path = pathOf(random.pick(all));
    if (random.chance(0.4)) {
      objects.delete(plural, path);
      return `${plural} ${path.name} deleted`;
    }
    const labels = { "app.kubernetes.io/part-of": "somebody" };
    const change = {
      services: { metadata: { labels } },
      deployments: { spec: { replicas: 0 } },
      configmaps: { data: { "haproxy.cfg": "" } },
    }[plural];
    objects.patch(plural, path, change);
    return `${plural} ${path.name} ${JSON.stringify(change)}`;
  }),
  toStepOf(
    "rival",
    4,
    ({ hosts }) => hosts.filter(isFree),
    ({ objects }, host) => {
      const labels = { [LABELS.name]: RIVAL, [LABELS.namespace]: RIVAL };
      objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
      return `takes ${keyOf(host)}`;
    },
  ),
  toStep("rival", 3, giveRivalBack),
  onHost(
    "loses its labels by hand",
    2,
    (host) => clusterOf(host) !== "" && clusterOf(host) !== `${RIVAL}/${RIVAL}`,
    ({ objects, random, labelledByHand }, host) => {
      labelledByHand.add(keyOf(host));
      const all = { [LABELS.name]: null, [LABELS.namespace]: null, [LABELS.role]: null };
      const labels = random.pick([all, { [LABELS.role]: null }, { [LABELS.name]: "nobody" }]);
      objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
    },
  ),
  onHost("gets labels by hand", 2, isFree, ({ objects, random, labelledByHand }, host) => {
    labelledByHand.add(keyOf(host));
    const labels = {
      [LABELS.namespace]: TENANTS,
      [LABELS.name]: random.pick(NAMES),
      [LABELS.role]: random.pick(ROLES),
    };
    objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
  }),
];

const HARDWARE: readonly SipStep[] = [
  onHost(
    "breaks",
    4,
    (host) => troubleOf(host) === "",
    ({ objects }, host) => breakHost(objects, pathOf(host), "the fan is broken"),
  ),
  onHost(
    "is mended",
    3,
    (host) => troubleOf(host) === "in error",
    ({ objects }, host) => mendHost(objects, pathOf(host)),
  ),
  ...listPauseSteps({ pause: 2, end: 3 }),
  onHost(
    "is deleted",
    0.5,
    (host) => consumerOf(host) === undefined,
    ({ objects }, host) => {
      objects.delete("baremetalhosts", pathOf(host));
    },
  ),
  onHost(
    "moves to another address",
    3,
    () => true,
    ({ objects, random }, host) => {
      const address = `10.24.${random.between(0, 255)}.${random.between(1, 254)}`;
      changeNetworks(objects, pathOf(host), [{ id: OAM_NETWORK, address }]);
    },
  ),
];

const SERVER = listServerSteps(["baremetalhosts", "sipclusters/status", "secrets"]);

/** Everything that may happen. */
export const SIP_STEPS: readonly SipStep[] = [
  ...PEOPLE,
  ...HARDWARE,
  ...SERVER,
  ...CONTROLLER_PROCESS_STEPS,
];

/** Something that happens to a cluster, by its name. */
function onCluster(
  name: string,
  weight: number,
  act: (world: SipWorld, cluster: string) => string,
): SipStep {
  const list = ({ clusters }: SipWorld): readonly ApiObject[] => clusters;
  return toStepOf(name, weight, list, (world, { metadata }) => act(world, metadata.name));
}

/** Lets another program give one host back. Returns which; nothing if it has none. */
export function giveRivalBack({ objects, hosts }: SipWorld): string | undefined {
  const host = hosts.find((one) => clusterOf(one) === `${RIVAL}/${RIVAL}`);
  if (host === undefined) return undefined;
  const labels = { [LABELS.name]: null, [LABELS.namespace]: null };
  objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
  return `gives ${keyOf(host)} back`;
}
