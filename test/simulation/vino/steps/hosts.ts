/**
 * What people and other programs do to BareMetalHosts and their Secrets.
 * @module
 */
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { consumerOf, isPaused, pathOf } from "../../../../lib/simulator/metal3/host_state.ts";
import { PAUSED } from "../../../../lib/simulator/metal3/kinds.ts";
import type { ControllerStep } from "../../steps/controller.ts";
import { METAL, type VinoWorld } from "../world.ts";

type Step = ControllerStep<VinoWorld>;

/** What happens to hosts. */
export const HOST_STEPS: readonly Step[] = [
  onHost(
    "is taken",
    5,
    (host) => consumerOf(host) === undefined,
    ({ objects }, host) => {
      const { name } = host.metadata;
      const consumerRef = { kind: "Metal3Machine", name: `for-${name}`, namespace: METAL };
      objects.patch("baremetalhosts", pathOf(host), { spec: { consumerRef } });
    },
  ),
  onHost("is given back", 5, (host) => consumerOf(host) !== undefined, giveBack),
  onHost(
    "is paused",
    1.5,
    (host) => !isPaused(host),
    ({ objects }, host) => {
      const annotations = { [PAUSED]: "" };
      objects.patch("baremetalhosts", pathOf(host), { metadata: { annotations } });
    },
  ),
  onHost("goes on", 2, isPaused, unpause),
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
  {
    name: "Secret is deleted",
    weight: 2,
    act: ({ objects, random }) => {
      const secrets = objects.list("secrets", METAL);
      if (secrets.length === 0) return undefined;
      const path = pathOf(random.pick(secrets));
      objects.delete("secrets", path);
      return path.name;
    },
  },
];

/** Lets nothing use a host any more. */
export function giveBack({ objects }: VinoWorld, host: ApiObject): void {
  objects.patch("baremetalhosts", pathOf(host), { spec: { consumerRef: null } });
}

/** Ends a pause of a host. */
export function unpause({ objects }: VinoWorld, host: ApiObject): void {
  const annotations = { [PAUSED]: null };
  objects.patch("baremetalhosts", pathOf(host), { metadata: { annotations } });
}

function onHost(
  name: string,
  weight: number,
  fits: (host: ApiObject) => boolean,
  act: (world: VinoWorld, host: ApiObject) => void,
): Step {
  return {
    name: `host ${name}`,
    weight,
    act: (world) => {
      const fit = world.hosts.filter(fits);
      if (fit.length === 0) return undefined;
      const host = world.random.pick(fit);
      act(world, host);
      return host.metadata.name;
    },
  };
}
