/**
 * What goes wrong with the servers.
 * @module
 */
import type { Step } from "./steps.ts";

const cloudFails: Step = {
  name: "cloud fails",
  weight: 3,
  act: ({ random, cloud, timeline }) => {
    const status = random.pick([401, 403, 500, 503]);
    const ms = random.between(1_000, 120_000);
    const end = cloud.faults.set({ kind: "status", status });
    timeline.schedule(ms, end);
    return `${status} for ${ms} ms`;
  },
};

const serverFails: Step = {
  name: "API server fails",
  weight: 3,
  act: ({ random, server, timeline }) => {
    const status = random.pick([409, 429, 500, 503]);
    const verb = random.pick(["patch", "get", "update", "list", "delete"]);
    const ms = random.between(1_000, 30_000);
    timeline.schedule(ms, server.faults.refuse({ status, verb }));
    return `${status} to ${verb} for ${ms} ms`;
  },
};

export const FAULT_STEPS: readonly Step[] = [cloudFails, serverFails];
