/**
 * What people and other programs do to BareMetalHosts and their Secrets.
 * @module
 */
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  consumerOf,
  hasBmc,
  isPaused,
  pathOf,
} from "../../../../lib/simulator/metal3/host_state.ts";
import { listPauseSteps, onHost, toMachineEnd } from "../../steps/hosts.ts";
import { METAL, type VinoWorld } from "../world.ts";
import { type Step, toStep, toStepOf } from "../../steps/mod.ts";

type VinoStep = Step<VinoWorld>;

/** The kind of what uses hosts besides machines of Cluster API. */
const KIND = "Workload";

/** What happens to hosts. */
export const HOST_STEPS: readonly VinoStep[] = [
  toStep("add machine", 6, (world) => world.addMachine()),
  toMachineEnd(5),
  onHost(
    "is taken",
    2.5,
    (host) => consumerOf(host) === undefined && !hasBmc(host),
    ({ objects }, host) => {
      const { name } = host.metadata;
      const consumerRef = { kind: KIND, name: `for-${name}`, namespace: METAL };
      objects.patch("baremetalhosts", pathOf(host), { spec: { consumerRef } });
    },
  ),
  onHost("is given back", 3, isTakenByHand, giveBack),
  ...listPauseSteps({ pause: 1.5, end: 2 }),
  onHost(
    "is deleted",
    1.5,
    (host) => !isPaused(host),
    ({ objects }, host) => {
      objects.delete("baremetalhosts", pathOf(host));
    },
  ),
  onHost(
    "loses labels",
    2,
    () => true,
    ({ objects, random }, host) => {
      const keys = Object.keys(Object(host.metadata["labels"])).filter(() => random.chance(0.5));
      const labels = Object.fromEntries(keys.map((key) => [key, random.pick([null, "edited"])]));
      objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
    },
  ),
  toStepOf(
    "Secret is deleted",
    2,
    ({ objects }) => objects.list("secrets", METAL),
    ({ objects }, { metadata: { name } }) => {
      objects.delete("secrets", { namespace: METAL, name });
      return name;
    },
  ),
];

/** Lets nothing use a host any more. */
export function giveBack({ objects }: VinoWorld, host: ApiObject): void {
  objects.patch("baremetalhosts", pathOf(host), { spec: { consumerRef: null } });
}

/** Whether something else uses a host than Cluster API, which gives its hosts back itself. */
export function isTakenByHand(host: ApiObject): boolean {
  return consumerOf(host)?.kind === KIND;
}
