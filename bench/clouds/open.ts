/**
 * Starts the simulator of a cloud, with a fleet of machines that are no Nodes yet.
 * @module
 */
import type { Clock } from "../../lib/core/clock.ts";
import * as cloudStack from "../../lib/simulator/cloudstack/mod.ts";
import { toPublicIp } from "../../lib/simulator/cloudstack/world/records.ts";
import type { KubernetesSimulator } from "../../lib/simulator/kubernetes/mod.ts";
import * as xenOrchestra from "../../lib/simulator/xenorchestra/mod.ts";
import { ADMIN } from "../soak/acts.ts";
import { CloudStackStage, type Stage, XenOrchestraStage } from "../stage.ts";
import type { CloudName } from "./mod.ts";

/** A simulated cloud that answers, and its machines. */
interface OpenCloud {
  readonly stage: Stage;
  /** By the name of the file that holds it. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** What a cloud is opened with. */
interface OpenOptions {
  readonly clock: Clock;
  /** Where its machines become Nodes. */
  readonly kubernetes: KubernetesSimulator;
  /** How many machines. */
  readonly count: number;
}

/** Opens a cloud. */
export function openCloud(name: CloudName, options: OpenOptions): Promise<OpenCloud> {
  return OPENERS[name](options);
}

/** Free ones, for load balancers. */
const PUBLIC_IPS = Array.from({ length: 250 }, (_, index) => `192.0.2.${index + 1}`);

const OPENERS: Readonly<Record<CloudName, (options: OpenOptions) => Promise<OpenCloud>>> = {
  xenorchestra: async ({ clock, kubernetes, count }) => {
    const { world, machines } = xenOrchestra.createFleet(count);
    const users = [ADMIN];
    const cloud = await xenOrchestra.startXenOrchestraSimulator({ clock, world, users });
    const stage = new XenOrchestraStage(kubernetes, cloud, machines.values());
    return { stage, secrets: { token: cloud.token } };
  },
  cloudstack: async ({ clock, kubernetes, count }) => {
    const { world, machines } = cloudStack.createFleet(count);
    const zoneId = world.zones?.[0]?.id ?? "";
    const publicIps = PUBLIC_IPS.map((address) => toPublicIp(address, zoneId));
    const cloud = await cloudStack.startCloudStackSimulator({
      clock,
      world: { ...world, publicIps },
    });
    const stage = new CloudStackStage(kubernetes, cloud, machines.values());
    const { apiKey, secretKey } = cloud;
    return { stage, secrets: { apiKey, secretKey } };
  },
};
