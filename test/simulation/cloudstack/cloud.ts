/**
 * CloudStack in memory: what is true in it, and what it says.
 * @module
 */
import type { ProviderDefinition } from "../../../lib/cloud/provider_definition.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { isRead } from "../../../lib/simulator/cloudstack/commands/mod.ts";
import type { AccountType } from "../../../lib/simulator/cloudstack/access/accounts.ts";
import { CloudStack } from "../../../lib/simulator/cloudstack/cloudstack.ts";
import type { Settings, Vm } from "../../../lib/simulator/cloudstack/mod.ts";
import type { Zone } from "../../../lib/simulator/cloudstack/world/records.ts";
import type { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { drawFrom, type Random, type Seed } from "../../support/random.ts";
import {
  REGION,
  TYPE,
  ZONE,
  type Answer,
  type Cloud,
  type LabelWords,
  type Origin,
  type WorldSettings,
} from "../world/cloud.ts";
import { World } from "../world/mod.ts";
import type { LabelSettings, Said } from "../world/settings_file.ts";
import { CloudStackBalancing, drawSite, readParameters, type Site } from "./services/balancing.ts";
import {
  forwardPorts,
  addNic,
  createPlaces,
  type PlaceOptions,
  type Places,
  toKeys,
} from "./places.ts";
import { CloudStackEvidence } from "./evidence.ts";
import { FileForm } from "./file_form.ts";
import type { Asked } from "../crash_points.ts";
import { CloudStackTruth } from "./truth.ts";

const SECRET = "simulated-key-of-forty-three-characters-000";
/** Sets what a story draws for its cloud apart from all else of a seed. */
const SALT = 0xc10d;
const LABELS: readonly string[] = [...REGION, ...ZONE, ...TYPE];
/** The fewest VMs that fill more than one of the smallest pages. */
const OTHERS_MIN = 22;

/** What is as a scenario says, and not drawn. */
export type CloudStackChoices = Partial<
  Pick<PlaceOptions, "hasProject" | "hasManager"> & {
    /** How the settings name the project. */
    readonly projectBy: "id" | "name";
    readonly trustsEmptyAnswer: boolean;
    /** Of load balancers. */
    readonly site: Site;
  }
>;

/** A world of CloudStack. */
export class CloudStackWorld extends World<CloudStackCloud> {
  constructor(
    seed: Seed,
    toSettings: (random: Random) => WorldSettings,
    choices: CloudStackChoices = {},
  ) {
    super(seed, toSettings, (origin) => new CloudStackCloud(origin, choices));
  }
}

/** CloudStack. */
export class CloudStackCloud implements Cloud {
  readonly definition: ProviderDefinition = cloudStack;
  readonly providerId: RegExp = /^external-cloudstack:\/\/([^/]+)$/;
  readonly firstSecret: string = SECRET;
  readonly firstLabels: LabelSettings = { typeStyle: "squeezed" };
  readonly labels: LabelWords = { ours: new Set(LABELS), edited: LABELS, passing: [] };
  readonly hasForgotten: boolean = false;
  readonly streams: number = 0;
  readonly provesOff: boolean = false;
  readonly needsRightClock: boolean = true;
  readonly undecided: readonly string[] = [
    "has not seen it since it started",
    "its database may have been restored from a backup",
    "so the user may not see these VMs any more",
    "so it may be another CloudStack",
    "is no proof by the setting deletion.trustEmptyAnswer",
  ];
  readonly server: CloudStack;
  readonly truth: CloudStackTruth;
  readonly places: Places;
  /** Load balancers; absent: there are none. */
  readonly balancing?: CloudStackBalancing;
  /** Whether an empty answer may be a part of a proof. */
  readonly trustsEmptyAnswer: boolean;
  /** The names that machines of Nodes were made with, by ID. */
  readonly names: Map<string, string> = new Map();
  /** Another CloudStack, which answers in the place of the right one while this is true. */
  isReplaced = false;
  readonly #other: CloudStack;
  readonly #form: FileForm;
  /** Machines that the server just now does not have, and never had as far as it knows. */
  readonly #forgotten = new Map<string, Vm>();
  readonly #random: Random;
  /** That of the server at first. */
  readonly #settings: Settings;
  readonly #stopped = new AbortController();
  #requests = 0;
  onAnswer: (asker: string, answer: Answer) => void = () => undefined;

  constructor(
    { seed, timeline: clock, trace, settings: { pools } }: Origin,
    choices: CloudStackChoices,
  ) {
    const random = drawFrom(seed, SALT);
    this.#random = random;
    const site = choices.site ?? drawSite(seed);
    const type = random.pick<AccountType>(["user", "user", "user", "domainAdmin", "admin"]);
    const places = createPlaces({
      zones: pools,
      type,
      seesDestroyed: random.chance(0.4),
      hasProject: random.chance(0.25) || choices.projectBy !== undefined,
      hasManager: choices.hasManager ?? false,
      secret: SECRET,
      ...(site && { site: site.kind }),
    });
    this.places = places;
    this.trustsEmptyAnswer =
      choices.trustsEmptyAnswer ?? (random.chance(0.85) || seed === "settled");
    const { signal } = this.#stopped;
    const isPaged = random.chance(0.3);
    const settings: Partial<Settings> = {
      defaultPageSize: isPaged ? 20 : 500,
      nameMatch: random.pick(["equal", "equal", "part"]),
      refusesBy: random.pick([401, 432]),
      jsonType: random.pick(["application/json; charset=UTF-8", "text/javascript; charset=UTF-8"]),
      enforcesPostAndTimestamps: random.chance(0.3),
      ...site?.settings,
    };
    this.server = new CloudStack({ clock, world: places.world, settings, signal });
    this.#other = new CloudStack({ clock, world: places.emptyWorld, settings, signal });
    this.#settings = { ...this.server.settings };
    this.#form = new FileForm({
      isIni: random.chance(0.7),
      ...(places.project && {
        project: places.project[choices.projectBy ?? random.pick(["id", "name"] as const)],
      }),
      trustsEmptyAnswer: this.trustsEmptyAnswer,
    });
    this.truth = new CloudStackTruth(this, clock);
    const others = isPaged ? random.between(OTHERS_MIN, OTHERS_MIN * 2) : 3;
    for (let at = 1; at <= others; at += 1) this.addOther(`n${at}-old`);
    if (site) {
      forwardPorts(this.state);
      this.balancing = new CloudStackBalancing({ ...site, cloud: this, timeline: clock, trace });
    }
  }

  get state(): CloudStackState {
    return this.server.state;
  }

  get requests(): number {
    return this.#requests;
  }

  /** One list of all pages for each refresh. */
  toBudget(refreshes: number, ms: number): number {
    const shown = [...this.state.vms.values()].filter((vm) => this.isOwned(vm)).length;
    const pages = Math.max(1, Math.ceil(shown / this.server.settings.defaultPageSize));
    return refreshes * pages + (this.balancing?.toBudget(ms) ?? 0);
  }

  async answer(asker: string, request: Request): Promise<Outcome> {
    this.#requests += 1;
    const noteDone = await this.balancing?.noteAsked(asker, request);
    const server = this.isReplaced ? this.#other : this.server;
    const outcome = await server.answer(request);
    noteDone?.();
    if (outcome.kind !== "reply") return outcome;
    const { response } = outcome;
    const { status, headers } = response;
    const text = await response.text();
    this.onAnswer(asker, { request, response, text });
    return { ...outcome, response: new Response(text, { status, headers }) };
  }

  async toAsked(request: Request): Promise<Asked | undefined> {
    if (this.balancing === undefined) return undefined;
    const what = (await readParameters(request)).get("command") ?? "?";
    const isOfNodes = what === "listVirtualMachines";
    return isOfNodes ? undefined : { what, isChange: !isRead(what), isOfCloud: true };
  }

  createEvidence(world: World): CloudStackEvidence {
    return new CloudStackEvidence(this, world);
  }

  findAsked({ url }: Request): string | undefined {
    const params = new URL(url).searchParams;
    const name = params.get("name");
    if (params.get("command") !== "listVirtualMachines") return undefined;
    if (name === null) return params.get("id") ?? undefined;
    return [...this.state.vms.values()].findLast((vm) => vm.name === name && !vm.isRemoved)?.id;
  }

  addVm(name: string, id: string, address: string, part?: number): void {
    this.names.set(id, name);
    this.#add(name, id, address, part);
  }

  /** Creates a machine that is no Node's. Returns its ID. */
  addOther(name: string): string {
    const id = toUuid(`other/${name}/${this.state.vms.size}/${this.#random.next()}`);
    this.#add(name, id, `10.2.0.${this.state.vms.size % 250}`);
    return id;
  }

  #add(name: string, id: string, ipAddress: string, part?: number): void {
    const { places } = this;
    const drawn = this.#random.pick(this.zones);
    const zone = this.zones[this.balancing?.isInOneZone ? 0 : (part ?? -1)] ?? drawn;
    const offering = this.#random.pick([...this.state.offerings.values()]);
    this.state.addVm({
      name,
      id,
      accountId: places.ownerId,
      zoneId: zone.id,
      offeringId: offering.id,
    });
    const vm = this.state.vm(id);
    addNic(this.state, vm, { ipAddress, isDefault: true });
    if (this.#random.chance(0.3)) {
      addNic(this.state, vm, { ipAddress: ipAddress.replace("10.", "172.16."), isDefault: false });
      vm.nics.reverse();
    }
  }

  /** A person may destroy a machine, and leave it to the server to expunge it. */
  removeVm(vmId: string): void {
    this.removeDoubles(vmId);
    if (this.#random.chance(0.3)) this.state.setState(vmId, "Destroyed");
    else this.state.expunge(vmId);
  }

  /** Makes it so that the server never had a machine. Returns what takes that back. */
  forget(vmId: string): () => void {
    this.#forgotten.set(vmId, structuredClone(this.state.vm(vmId)));
    this.state.purge(vmId);
    return () => {
      const vm = this.#forgotten.get(vmId);
      this.#forgotten.delete(vmId);
      if (vm) this.state.addVm(vm);
    };
  }

  /** A machine, whether the server has it just now or not. */
  find(vmId: string): Vm | undefined {
    return this.#forgotten.get(vmId) ?? this.state.vms.get(vmId);
  }

  /** Removes the machines that are no Nodes' and have the name of one. Else its Node could be given one of these. */
  removeDoubles(vmId: string): void {
    const { name } = this.state.vm(vmId);
    for (const vm of this.state.vms.values()) {
      if (vm.name === name && !this.names.has(vm.id)) this.state.expunge(vm.id);
    }
  }

  /** Landfall looks for its first label, too. */
  toTwin(name: string): string {
    return `${name}.twin`;
  }

  toText(said: Said): string {
    return this.#form.toText(said);
  }

  listSpoilt(text: string): readonly (string | undefined)[] {
    return this.#form.listSpoilt(text);
  }

  drawLabels(random: Random, before: LabelSettings): LabelSettings {
    return random.pick<LabelSettings>([
      before,
      { typeStyle: "squeezed" },
      { typeStyle: "sanitised" },
      { typeStyle: "squeezed", region: "region-1" },
      { typeStyle: "sanitised", region: "region-2" },
    ]);
  }

  retag(): void {
    // Labels depend on nothing but the settings and the records.
  }

  /** Lets the user in with other keys, and no more with those of before. */
  changeKeys(secret: string): void {
    Object.assign(this.server.user, toKeys(secret));
    Object.assign(this.#other.user, toKeys(secret));
  }

  /** Gives the server the settings that it had at first. */
  resetSettings(): void {
    Object.assign(this.server.settings, this.#settings);
  }

  get zones(): readonly Zone[] {
    return [...this.state.zones.values()];
  }

  /** Whether a machine is in what the user lists: of the account or the project. */
  isOwned({ accountId }: Pick<Vm, "accountId">): boolean {
    const { ownerId, type, hasProject, projectAccountId } = this.places;
    if (hasProject || type === "user") return accountId === ownerId;
    return accountId !== projectAccountId;
  }

  /** Whether the user may see a machine. */
  isShown(vm: Vm): boolean {
    const { type, seesDestroyed } = this.places;
    if (!this.isOwned(vm) || vm.isRemoved || this.#forgotten.has(vm.id)) return false;
    if (!vm.isDisplayed) return false;
    return type !== "user" || seesDestroyed || !["Destroyed", "Expunging"].includes(vm.state);
  }

  endFaults(): void {
    this.isReplaced = false;
    const { server, places, names } = this;
    server.faults.clear();
    this.balancing?.endFaults();
    this.resetSettings();
    server.user.isEnabled = true;
    server.user.role.commands = ["*"];
    places.restoreProject(this.state);
    for (const vm of this.state.vms.values()) {
      vm.overrides = {};
      vm.isDisplayed = true;
      const name = names.get(vm.id);
      if (name === undefined) continue;
      vm.name = name;
      if (["Starting", "Migrating", "Unknown"].includes(vm.state)) vm.state = "Running";
      else if (["Stopping", "Error"].includes(vm.state)) vm.state = "Stopped";
      else if (vm.state === "Expunging" || !this.#canWait(vm)) this.state.expunge(vm.id);
    }
    for (const id of names.keys()) if (this.state.vms.has(id)) this.removeDoubles(id);
  }

  /** What nobody sees that is destroyed is expunged one day. */
  #canWait(vm: Vm): boolean {
    return vm.state !== "Destroyed" || this.isShown(vm);
  }

  tidyUp(): void {
    // All that people would not let go on is ended with the faults.
  }

  /** What was moved into a project, or out of one, shows there. */
  isBeyondProof(_node: Node, vmId: string): boolean {
    const vm = this.state.vms.get(vmId);
    if (vm === undefined || vm.isRemoved || this.isOwned(vm)) return false;
    const { type, accountId, projectAccountId } = this.places;
    return type !== "user" || [accountId, projectAccountId].includes(vm.accountId);
  }

  stop(): void {
    this.#stopped.abort(new Error("the simulation is over"));
  }
}
