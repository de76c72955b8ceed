/**
 * Where the scenarios about Services are told: three Nodes in a network of CloudStack, and a process that dies at one
 * of its requests.
 * @module
 */
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import type { Settings } from "../../../../lib/simulator/cloudstack/settings.ts";
import { summarizeCloud } from "../../../../lib/simulator/cloudstack/world/summary.ts";
import { withoutIds } from "../../../support/services/site.ts";
import { CloudStackWorld } from "../../cloudstack/cloud.ts";
import { KEPT } from "../../cloudstack/services/wishes.ts";
import { isFreeAtFirst, type SiteKind } from "../../cloudstack/places.ts";
import type { CrashEnding, CrashPoint } from "../../crash_points.ts";
import { tellStory } from "../../ending.ts";
import { calm, end } from "../../story.ts";
import { ALONE } from "../stage.ts";
import type { WorldSettings } from "../../world/cloud.ts";
import { check, toReplay } from "../scenario.ts";

/** What people do. */
export type Act = (world: CloudStackWorld) => void;

/** A Service that is at rest, and a change. */
export interface ServiceStory {
  readonly name: string;
  /** @default {"isolated"} */
  readonly network?: SiteKind;
  /** The server's settings other than usual. @default {none} */
  readonly settings?: Partial<Settings>;
  /** Whether addresses are not those that Landfall chose. @default {false} */
  readonly namesAddress?: boolean;
  /** The Services before the change, brought to rest one after another without any crash. @default {none} */
  readonly before?: readonly Act[];
  /** An address that must be nobody's in the end. */
  readonly frees?: string;
  /** An address that must be kept in the end. */
  readonly keeps?: string;
  /** Whether Landfall asks nobody to release an address. @default {false} */
  readonly needsNobody?: boolean;
  /** Whether only CI tells it. @default {false} */
  readonly isOfCi?: boolean;
  /** Whether it is told with a crash after every change, also where only some tests run. @default {false} */
  readonly isDense?: boolean;
  /** Whether it is told with crashes, too. @default {true} */
  readonly hasCrashes?: boolean;
  /** The change. From here on every request may be the last one of its process. */
  readonly act: Act;
}

/** Names of the Nodes. */
const NODES: readonly string[] = ["n1", "n2", "n3"];
const START_MS = 10_000;
const LOOK_MS = 5_000;
/** Without a change for so long, all is at rest, unless something is wrong. */
const QUIET_MS = 20_000;
/** Longer than the longest pause between two tries. */
const PATIENCE_MS = 1_200_000;
/** So rarely that it is no part of any story. */
const NEVER_MS = 3_600_000;
const RIGHT = { rate: 1, skewMs: 0 } as const;
const SETTINGS: WorldSettings = {
  deletion: DEFAULT_DELETION,
  refreshIntervalMs: 600_000,
  replicas: 1,
  pools: 1,
  nodes: NODES.length,
  election: ALONE,
};

/** Tells a story. @param jobMs How long each job of the cloud takes @param whole How it should end */
export async function tellService(
  story: ServiceStory,
  jobMs: number,
  { point, whole }: { readonly point?: CrashPoint; readonly whole?: CrashEnding } = {},
): Promise<CrashEnding> {
  const {
    name,
    network = "isolated",
    before = [],
    act,
    frees,
    keeps,
    namesAddress = false,
  } = story;
  const settings = { ...story.settings, jobMs };
  const site = { kind: network, isInOneZone: true, periodMs: NEVER_MS, settings };
  const world = new CloudStackWorld("settled", () => SETTINGS, { site });
  const { crashPoints, timeline } = world;
  const pass = async (): Promise<void> => {
    world.noteChange();
    await timeline.advance(LOOK_MS);
  };
  const untilQuiet = async (): Promise<void> => {
    let { writes } = world.invariants;
    for (let quietMs = 0; quietMs < QUIET_MS; quietMs += LOOK_MS) {
      await pass();
      if (world.invariants.writes !== writes) quietMs = 0;
      ({ writes } = world.invariants);
    }
  };
  let left: unknown;
  const ending = await tellStory(toReplay(name), world, [
    async () => {
      for (const one of NODES) world.addMachine(one);
      for (const one of NODES) world.join(one);
      for (const replica of world.replicas) replica.start(RIGHT);
      world.noteChange();
      await timeline.advance(START_MS);
      for (const prepare of before) {
        prepare(world);
        await untilQuiet();
      }
    },
    async () => {
      crashPoints.begin(point);
      act(world);
      await untilQuiet();
      if (world.violations.length > 0) return;
      await calm(world);
      const describe = (): object => describeEnd(world, namesAddress);
      const wanted = JSON.stringify(whole?.left);
      const endMs = timeline.monotonic() + PATIENCE_MS;
      if (whole !== undefined)
        while (JSON.stringify(describe()) !== wanted && timeline.monotonic() < endMs) await pass();
      left = describe();
      const taken = [...world.cloud.state.publicIps.values()].filter(
        ({ address, state }) => address === frees && state !== "Free",
      );
      check("addresses that should be free", taken, []);
      const { tags, publicIps } = world.cloud.state;
      const kept = [...publicIps.values()].filter(({ id }) => tags.has(id, KEPT));
      const ips = kept.map(({ address }) => address);
      check("addresses that are kept", ips, keeps === undefined ? [] : [keeps]);
      const released = [...(world.cloud.balancing?.released ?? [])];
      if (story.needsNobody) check("addresses that people released", released, []);
      if (whole === undefined) await end(world);
    },
  ]);
  return { ...ending, left, asked: [...crashPoints.asked], isReached: crashPoints.isReached };
}

/** What is left, without what differs from run to run. */
function describeEnd({ cloud, server }: CloudStackWorld, namesAddress: boolean): object {
  const isChosen = (address: string): boolean => !namesAddress && isFreeAtFirst({ address });
  const summary = summarizeCloud(cloud.state, {
    isChosen: (ip, tags) => isChosen(ip.address) && "landfall.dev/service-uid" in tags,
  });
  const services = server.services
    .filter(({ metadata }) => metadata.name !== "kubernetes")
    .map((service) => describeService(service, isChosen));
  return withoutIds({ summary, services });
}

function describeService(
  { metadata, status = {} }: Service,
  isChosen: (address: string) => boolean,
): object {
  const { name, annotations, finalizers } = metadata;
  const shown = JSON.stringify(status, (_key, value: unknown) =>
    typeof value === "string" && isChosen(value) ? "any" : value,
  );
  return { name, annotations, finalizers, status: shown };
}
