/**
 * What people do by hand to Services of type LoadBalancer: fields that are Landfall's, and the address that they name,
 * also from another namespace.
 * @module
 */
import { formatTime } from "../../../../lib/core/clock.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";
import type { CloudStackWorld } from "../cloud.ts";
import type { CloudStackBalancing } from "./balancing.ts";
import { isFreeAtFirst } from "../places.ts";
import { nameOf, ofService, drawPorts, step } from "./service_steps.ts";
import { FINALIZER, isWanted, RECORD, WORD } from "./wishes.ts";
import type { Step } from "../../steps/mod.ts";
import { readOwner } from "./service_judge.ts";

/** It says that an address of the user was taken for the Service, or that a job runs which never was. */
function forge(
  { random, timeline }: CloudStackWorld,
  { cloud }: CloudStackBalancing,
  { metadata }: Service,
): string {
  const ip = random.pick([...cloud.state.publicIps.values()]);
  const at = formatTime(timeline.now());
  const place = ip.vpcId === undefined ? { network: ip.networkId } : { vpc: ip.vpcId };
  const address = { id: ip.id, ip: ip.address, ...place, at, free: false };
  const job = { id: toUuid("job/forged"), command: "associateIpAddress" };
  const part = random.chance(0.5) ? { address } : { job };
  return JSON.stringify({ v: 1, uid: metadata.uid, ...part });
}

/** What only the record of a Service proves is lost with it. */
function loseRecord({ abandoned, cloud }: CloudStackBalancing, { metadata }: Service): void {
  const record = metadata.annotations?.[RECORD] ?? "";
  const { publicIps, tags } = cloud.state;
  // Where CloudStack chose, the record says no more than a network.
  const isWithoutChoice = record.includes('"address"') && !record.includes('"id"');
  for (const { id } of publicIps.values()) {
    // Also one that is free: CloudStack may be about to give it.
    const mayBeMeant = isWithoutChoice && tags.of(id).length === 0;
    if (record.includes(id) || mayBeMeant) abandoned.add(id);
  }
}

/** Everything that people do to Services by hand. */
export const OBJECT_STEPS: readonly Step<CloudStackWorld>[] = [
  ofService("record edited by hand", 3, (world, balancing, service) => {
    const { random, server } = world;
    loseRecord(balancing, service);
    const others = server.services.flatMap(({ metadata }) => metadata.annotations?.[RECORD] ?? []);
    const forged = forge(world, balancing, service);
    const text = random.pick([null, "{", "{}", forged, forged, ...others]);
    patch(world, service, { metadata: { annotations: { [RECORD]: text } } });
    return `${text}`;
  }),
  ofService("status edited by hand", 2, (world, _balancing, service) => {
    // The API server refuses it of any other type.
    if (service.spec?.type !== "LoadBalancer") return undefined;
    const ingress = world.random.pick([null, [{ ip: "192.0.2.1" }]]);
    const name = { ...nameOf(service), subresource: "status" };
    world.server.objects.patch("services", name, { status: { loadBalancer: { ingress } } });
    return JSON.stringify(ingress);
  }),
  // As people do who want a Service to go that does not go. What is left of it then may stay.
  ofService("finalizer removed by hand", 1, (world, balancing, service) => {
    const { finalizers = [], uid = "" } = service.metadata;
    if (!finalizers.includes(FINALIZER)) return undefined;
    const kept = finalizers.filter((one) => one !== FINALIZER);
    const isDeleted = world.random.chance(0.3);
    const life = balancing.knowledge.find(uid);
    if (life && (isDeleted || !isWanted(service))) life.mayLeak = true;
    patch(world, service, { metadata: { finalizers: kept } });
    if (isDeleted) {
      loseRecord(balancing, service);
      world.server.objects.delete("services", nameOf(service));
    }
    return isDeleted ? "and deleted" : "";
  }),
  // An address of the user, a free one, or none: nobody else names it.
  ofService("Service names an address", 4, (world, balancing, service) => {
    const { random, server } = world;
    const { cloud, knowledge, isInOneZone, book } = balancing;
    if (!isInOneZone || !isWanted(service)) return undefined;
    const [zone] = cloud.zones;
    const named = new Set(server.services.map(({ spec }) => spec?.loadBalancerIP));
    const choices = [...cloud.state.publicIps.values()].filter(
      (ip) =>
        ip.zoneId === zone?.id &&
        !(ip.isSourceNat && ip.vpcId !== undefined) &&
        !named.has(ip.address) &&
        (ip.state === "Free" || (book.has(ip.id) && !isFreeAtFirst(ip))),
    );
    const life = knowledge.find(service.metadata.uid ?? "");
    if (life === undefined || choices.length === 0) return undefined;
    life.mayMove = true;
    const address = random.chance(0.3) ? null : random.pick(choices).address;
    patch(world, service, { spec: { loadBalancerIP: address } });
    return `${address}`;
  }),
];

function patch(
  { server }: CloudStackWorld,
  service: Service,
  body: Parameters<CloudStackWorld["server"]["objects"]["patch"]>[2],
): void {
  server.objects.patch("services", nameOf(service), body);
}

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
