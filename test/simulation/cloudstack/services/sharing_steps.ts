/**
 * What Services of another namespace do to addresses, and what the Services that have them say to it.
 * @module
 */
import type { CloudStackWorld } from "../cloud.ts";
import type { Step } from "../../steps/mod.ts";
import { readOwner } from "./service_judge.ts";
import { drawPorts, nameOf, ofService, step } from "./service_steps.ts";
import { WORD } from "./wishes.ts";

const OTHER = "other";

/** Everything of that. */
export const SHARING_STEPS: readonly Step<CloudStackWorld>[] = [
  // Names the address of a Service that there is, or was.
  step("Service of another namespace created", 40, (world, balancing) => {
    const { random, server } = world;
    const { objects, services } = server;
    const { state } = balancing.cloud;
    if (services.some(({ metadata }) => metadata.namespace === OTHER)) return undefined;
    const taken = [...state.publicIps.values()].filter(({ id }) => readOwner(state, id));
    if (taken.length === 0 || !balancing.isInOneZone) return undefined;
    const { address, id } = random.pick(taken);
    const host = services.find(({ metadata }) => metadata.uid === readOwner(state, id));
    const word = random.pick([null, OTHER, "*"]);
    if (host) objects.patch("services", nameOf(host), toWord(word));
    if (objects.get("namespaces", { name: OTHER }) === undefined)
      objects.create("namespaces", { metadata: { name: OTHER } });
    const spec = {
      type: "LoadBalancer",
      selector: { app: "other" },
      ports: drawPorts(random, balancing),
      loadBalancerIP: address,
    };
    objects.create("services", { metadata: { name: "s9", namespace: OTHER }, spec });
    const life = balancing.knowledge.lives.at(-1);
    if (life) life.mayMove = true;
    return `${JSON.stringify(spec)}, with the word ${word} of ${host?.metadata.name}`;
  }),
  ofService("Service shares its address, or no more", 10, (world, _balancing, service) => {
    const word = world.random.pick([null, OTHER, `web, ${OTHER}`, "*"]);
    world.server.objects.patch("services", nameOf(service), toWord(word));
    return `${word}`;
  }),
];

function toWord(word: string | null): { metadata: { annotations: Record<string, string | null> } } {
  return { metadata: { annotations: { [WORD]: word } } };
}
