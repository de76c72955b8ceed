/**
 * Load balancers in stories of CloudStack: what people have, what processes know, and what is judged.
 * @module
 */
import type { KubeEvent } from "../../../../lib/kube/kinds/event.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import type { CloudStack } from "../../../../lib/simulator/cloudstack/cloudstack.ts";
import type { Settings } from "../../../../lib/simulator/cloudstack/mod.ts";
import { free } from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import type { Zone } from "../../../../lib/simulator/cloudstack/world/records.ts";
import type { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";
import { drawFrom, type Seed } from "../../../support/random.ts";
import type { Timeline } from "../../timeline.ts";
import type { Trace } from "../../trace.ts";
import type { ServiceChange } from "../../world/api_server.ts";
import type { Balancing, Surroundings } from "../../world/cloud.ts";
import type { Places, SiteKind } from "../places.ts";
import type { CloudStackTruth } from "../truth.ts";
import { Book } from "./book.ts";
import { Knowledge } from "./knowledge.ts";
import { readOwner, ServiceJudge } from "./service_judge.ts";
import { listUnsettled } from "./service_truth.ts";
import { readAskedMs } from "./wishes.ts";

/** What a story draws of them. */
export interface Site {
  readonly kind: SiteKind;
  /** Whether all machines are in one zone, and so in one network. */
  readonly isInOneZone: boolean;
  /** Whether there are Services of another namespace. @default {false} */
  readonly hasOthers?: boolean;
  /** How often all load balancers are compared with their Services, in milliseconds. */
  readonly periodMs: number;
  readonly settings: Partial<Settings>;
}

interface Balanced {
  readonly places: Places;
  /** The names that machines of Nodes were made with, by ID. */
  readonly names: ReadonlyMap<string, string>;
  readonly zones: readonly Zone[];
  readonly server: CloudStack;
  readonly state: CloudStackState;
  readonly truth: CloudStackTruth;
}

/** What {@linkcode CloudStackBalancing} needs. */
interface BalancingOptions extends Site {
  readonly cloud: Balanced;
  readonly timeline: Timeline;
  readonly trace: Trace;
}

/** What Landfall says of an address that it may have taken and cannot prove to be its own. */
const NOT_OURS = "AddressNotOurs";
/** What it says of one that it took and that something else uses when its Service goes. */
const KEPT = "AddressKept";

/** In how many stories there are load balancers. */
const SHARE = 0.5;
/** Sets what is drawn of them apart from all else of a seed. */
const SALT = 0x1b;

const HIDDEN: ReadonlySet<string> = new Set([
  "apikey",
  "signature",
  "signatureversion",
  "expires",
  "response",
]);

/** Draws what there is; nothing in some stories. */
export function drawSite(seed: Seed): Site | undefined {
  const random = drawFrom(seed, SALT);
  if (!random.chance(SHARE)) return undefined;
  return {
    kind: random.pick<SiteKind>(["isolated", "isolated", "tier", "open"]),
    isInOneZone: random.chance(0.7),
    periodMs: random.pick([30_000, 60_000]),
    settings: {
      version: random.pick(["4.18.1.0", "4.20.0.0", "4.22.0.0", "4.22.0.0"]),
      showsFreeIps: random.chance(0.8),
      jobMs: random.pick([200, 200, 1_000, 4_000]),
      sendsPortsAsText: random.chance(0.3),
      listsEndedJobs: random.chance(0.2),
      ...(random.chance(0.4) && { eventsKeptMs: 0 }),
    },
    hasOthers: random.chance(0.6),
  };
}

/** Load balancers. */
export class CloudStackBalancing implements Balancing {
  readonly kind: SiteKind;
  readonly isInOneZone: boolean;
  readonly hasOthers: boolean;
  readonly flags: Readonly<Record<string, number>>;
  readonly cloud: Balanced;
  readonly book: Book;
  readonly knowledge: Knowledge;
  readonly judge: ServiceJudge;
  /** Addresses that people took since the story began, by ID. */
  readonly taken: Set<string> = new Set();
  /** Addresses whose only proof people destroyed, by ID. */
  readonly abandoned: Set<string> = new Set();
  /** Addresses that people released because Landfall said so. */
  readonly released: Set<string> = new Set();
  /** The Events for which they did, each with its count and the address. */
  readonly followed: Set<string> = new Set();
  readonly #timeline: Timeline;
  readonly #periodMs: number;
  readonly #trace: Trace;
  /** Counts what is made, for names and ports. */
  #made = 0;

  constructor(options: BalancingOptions) {
    const { kind, isInOneZone, hasOthers = false, periodMs, cloud, timeline, trace } = options;
    this.#trace = trace;
    this.kind = kind;
    this.isInOneZone = isInOneZone;
    this.hasOthers = hasOthers;
    this.flags = { "service-sync-period": periodMs };
    this.cloud = cloud;
    this.#timeline = timeline;
    this.#periodMs = periodMs;
    this.book = new Book(cloud.state);
    this.book.keepAll(0);
    this.knowledge = new Knowledge(() => timeline.monotonic());
    const { book, knowledge } = this;
    this.judge = new ServiceJudge({ timeline, cloud: cloud.server, book, knowledge });
  }

  /** Milliseconds since the story began. */
  get nowMs(): number {
    return this.#timeline.monotonic();
  }

  /** A number that nothing has yet. */
  next(): number {
    this.#made += 1;
    return this.#made;
  }

  noteChange({ before, after }: ServiceChange): void {
    this.knowledge.noteChange(before, after);
  }

  noteShown(asker: string, services: readonly Service[]): void {
    this.knowledge.noteShown(asker, services);
  }

  notePiece(asker: string, piece: Uint8Array): void {
    this.knowledge.notePiece(asker, piece);
  }

  /** Takes in a request that reaches the server. Returns what tells that the server is done with it. */
  async noteAsked(asker: string, request: Request): Promise<() => void> {
    const parameters = await readParameters(request);
    const command = parameters.get("command") ?? "";
    if (request.method === "POST") this.#trace.note(asker, `asks ${describe(parameters)}`);
    return this.judge.noteAsked(asker, command, parameters);
  }

  listBroken(): string[] {
    return this.judge.listBroken();
  }

  listUntrue(world: Surroundings): string[] {
    return listUnsettled(world, this);
  }

  measureLead({ server, timeline }: Surroundings): number {
    const askedMs = server.services.flatMap((service) => readAskedMs(service) ?? []);
    return Math.max(0, ...askedMs.map((ms) => ms - timeline.now()));
  }

  decide(world: Surroundings): void {
    decideAddresses(world, this);
  }

  /** Lets jobs end that would never end. */
  endFaults(): void {
    this.cloud.server.jobs.releaseAll();
  }

  /** How many requests full passes may take within a time in which nothing goes wrong. */
  toBudget(ms: number): number {
    const { loadBalancerRules, aclLists, networks } = this.cloud.state;
    const look = 12 + networks.size + aclLists.size + loadBalancerRules.size * 2;
    return (Math.ceil(ms / this.#periodMs) + 2) * look * 2;
  }
}

/** What a request asks for. */
export async function readParameters(request: Request): Promise<URLSearchParams> {
  if (request.method === "POST") return new URLSearchParams(await request.clone().text());
  return new URL(request.url).searchParams;
}

/** Releases the addresses of which Landfall says that a person must, if nothing needs them. */
function decideAddresses({ server, trace }: Surroundings, balancing: CloudStackBalancing): void {
  const { cloud, book, judge, released, followed } = balancing;
  for (const event of server.objects.list("events") as unknown as readonly KubeEvent[]) {
    for (const ip of cloud.state.publicIps.values()) {
      const isNamed = event.message?.includes(`${ip.address} `) ?? false;
      const isNeeded = book.has(ip.id) || book.isUsed(ip.id) || ip.accountId === undefined;
      if (!isNamed || isNeeded || !isLeftToPeople(event, ip.id, server, cloud.state)) continue;
      // Landfall may have taken it again since: only what it says again counts again.
      const word = `${event.metadata.uid} ${event.count} ${ip.id}`;
      if (followed.has(word)) continue;
      followed.add(word);
      trace.note("PERSON", `releases ${ip.address}: ${event.message}`);
      free(cloud.state, ip);
      released.add(ip.address);
      judge.accept();
    }
  }
}

function isLeftToPeople(
  { reason, message, involvedObject }: KubeEvent,
  ipId: string,
  { services }: Surroundings["server"],
  state: CloudStackState,
): boolean {
  if (reason === NOT_OURS) return state.tags.of(ipId).length === 0;
  const owner = readOwner(state, ipId);
  return (
    reason === KEPT &&
    message?.includes("release it by hand") === true &&
    owner === involvedObject?.uid &&
    services.every(({ metadata }) => metadata.uid !== owner) &&
    state.loadBalancerRules.values().every((rule) => rule.ipId !== ipId)
  );
}

/** A command without what differs in each run or says nothing. */
function describe(parameters: URLSearchParams): string {
  const { command, ...others } = Object.fromEntries(parameters);
  const shown = Object.entries(others).filter(([name]) => !HIDDEN.has(name.toLowerCase()));
  return [command, ...shown.map(([name, value]) => `${name}=${value}`)].join(" ");
}
