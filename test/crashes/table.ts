/**
 * Tells a story once without a crash, and once for each request with a crash at it; the ends must be the same.
 * @module
 */
import { loadControllers } from "../../lib/controllers/load.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { summarizeCloud } from "../../lib/simulator/cloudstack/world/summary.ts";
import type { Service } from "../../lib/kube/kinds/service.ts";
import type { JsonObject } from "../../lib/simulator/kubernetes/mod.ts";
import { withoutIds } from "../support/services/without_ids.ts";
import { createSite, FREE_IPS_PREFIX } from "./site.ts";
import { Stage } from "./stage.ts";
import type { Story } from "./stories.ts";
import type { Counted, Cut, Wire } from "./wire.ts";

/** How a story ended. */
export interface Ending {
  /** Whether each Service has what it asks for: an address, or nothing any more. */
  readonly isDone: boolean;
  /** What is left in the cloud, and of the Service. */
  readonly left: object;
  /** Every request of all processes since the change, in order. */
  readonly requests: readonly Counted[];
  /** Whether the cut was reached. */
  readonly isCut: boolean;
}

const CONTROLLERS_IN_USE = await loadControllers(
  CONTROLLERS.filter(({ name }) => name === "service"),
);
const NAMES = ["shop", "web"] as const;
const STEP_MS = 5_000;
/** Without a question for so long, all is at rest, unless something is wrong. */
const QUIET_MS = 20_000;
/** Longer than the longest pause between two tries. */
const PATIENCE_MS = 1_200_000;

/** How to tell a story. */
export interface Telling {
  /** How long each job of the cloud takes, in milliseconds. */
  readonly jobMs: number;
  /** When the process dies. Absent: it does not. */
  readonly cut?: Cut;
  /** How it should end; a story that ends otherwise is waited for longer. */
  readonly expected?: Ending;
}

/** Tells a story. */
export async function tell(story: Story, { jobMs, cut, expected }: Telling): Promise<Ending> {
  await using stage = new Stage({
    controllers: CONTROLLERS_IN_USE,
    site: createSite(story.network),
    settings: { jobMs },
  });
  const first = stage.start();
  for (const prepare of [story.before ?? []].flat()) {
    prepare(stage);
    first.startCounting();
    await untilQuiet(stage, first);
  }
  first.startCounting(cut);
  story.act(stage);
  await untilQuiet(stage, first);
  const requests = [...first.counted];
  if (first.isCut) {
    await stage.stop();
    const second = stage.start();
    second.startCounting();
    await untilQuiet(stage, second);
    await untilAs(expected, () => describe(stage, story), stage);
    requests.push(...second.counted);
  }
  return {
    isDone: isDone(stage, story),
    left: describe(stage, story),
    requests,
    isCut: first.isCut,
  };
}

/** Lets time pass until all is left as expected, or for so long that it will never be. */
async function untilAs(
  expected: Ending | undefined,
  describeNow: () => object,
  { clock }: Stage,
): Promise<void> {
  const wanted = JSON.stringify(expected?.left);
  const endMs = clock.monotonic() + PATIENCE_MS;
  while (JSON.stringify(describeNow()) !== wanted && clock.monotonic() < endMs) {
    await clock.advance(STEP_MS);
  }
}

function isDone(stage: Stage, { frees }: Story): boolean {
  const addresses = [...stage.cloud.state.publicIps.values()];
  if (addresses.some(({ address, state }) => address === frees && state !== "Free")) return false;
  return listServices(stage).every((service) => {
    const { spec, status } = service as unknown as Service;
    const hasAddress = (status?.loadBalancer?.ingress ?? []).length > 0;
    return hasAddress === (spec?.type === "LoadBalancer");
  });
}

function listServices({ objects }: Stage) {
  return NAMES.flatMap((name) => objects.get("services", { name, namespace: "default" }) ?? []);
}

/** Lets time pass until the process asked nothing for a while, or is dead. */
async function untilQuiet({ clock }: Stage, wire: Wire): Promise<void> {
  let last = wire.counted.length;
  for (let quietMs = 0; quietMs < QUIET_MS && !wire.isCut;) {
    await clock.advance(STEP_MS);
    quietMs = wire.counted.length === last ? quietMs + STEP_MS : 0;
    last = wire.counted.length;
  }
}

function describe(stage: Stage, { namesAddress = false }: Story): object {
  const isChosen = (address: string): boolean =>
    !namesAddress && address.startsWith(FREE_IPS_PREFIX);
  const summary = summarizeCloud(stage.cloud.state, {
    isChosen: (ip, tags) => isChosen(ip.address) && "landfall.dev/service-uid" in tags,
  });
  const services = listServices(stage).map((service) => describeService(service, isChosen));
  return withoutIds({ summary, services });
}

function describeService(
  service: JsonObject & { readonly metadata: JsonObject },
  isChosen: (address: string) => boolean,
): object {
  const { annotations, finalizers } = service.metadata;
  const status = JSON.stringify(service["status"] ?? {}, (_key, value: unknown) =>
    typeof value === "string" && isChosen(value) ? "any" : value,
  );
  return { annotations, finalizers, status };
}
