/**
 * What goes wrong with the API server.
 * @module
 */
import { later, type Step, toStep } from "./mod.ts";

const VERBS = [undefined, "get", "list", "watch", "create", "update", "patch", "delete"] as const;
const RESOURCES = [undefined, "nodes", "nodes/status", "leases", "events"] as const;

/** Everything that goes wrong there. */
export const SERVER_STEPS: readonly Step[] = [
  toStep("API server refuses", 4, ({ random, server, timeline }) => {
    const status = random.pick([409, 410, 429, 500, 503, 504]);
    const verb = random.pick(VERBS);
    const resource = random.pick(RESOURCES);
    const ms = random.between(500, 20_000);
    const rule = {
      status,
      ...(verb && { verb }),
      ...(resource && { resource }),
      ...(status === 429 || random.chance(0.3) ? { retryAfterSeconds: random.between(1, 8) } : {}),
    };
    timeline.schedule(ms, server.faults.refuse(rule));
    return `${JSON.stringify(rule)} for ${ms} ms`;
  }),
  // All connections are cut; then nobody listens; what was long ago is forgotten.
  toStep("API server restarts", 2, (world) => {
    const { random, server, incarnations } = world;
    const ms = random.between(500, 20_000);
    for (const link of incarnations.flatMap(({ kube, election }) => [kube, election])) {
      link.isRefused = true;
      link.reset();
    }
    if (random.chance(0.5)) server.compact();
    later(world, ms, () => {
      for (const { kube, election } of world.incarnations) {
        kube.isRefused = false;
        election.isRefused = false;
      }
    });
    return `for ${ms} ms`;
  }),
  toStep("watches end", 2, ({ random, server, incarnations }) => {
    const how = random.pick(["in good order", "by a reset", "too old", "too old, at opening"]);
    if (how.startsWith("too old")) {
      server.faults.goneForm = how === "too old" ? "stream" : "http";
      server.compact();
    }
    if (how === "too old") server.watches.expire();
    else if (how === "by a reset") for (const { kube } of incarnations) kube.reset();
    else server.watches.drop();
    return how;
  }),
  toStep("Lease edited by hand", 1, ({ random, server }) => {
    const holder = random.pick([undefined, undefined, "", "somebody"]);
    if (!server.editLease(holder)) return undefined;
    return holder === undefined ? "deleted" : `held by "${holder}"`;
  }),
];
