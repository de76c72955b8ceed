/**
 * How scenarios of CloudStack are told.
 * @module
 */
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import type { User } from "../../../../lib/simulator/cloudstack/access/accounts.ts";
import {
  type CloudStackChoices,
  type CloudStackCloud,
  CloudStackWorld,
} from "../../cloudstack/cloud.ts";
import { toSaying } from "../../world/settings_file.ts";
import { listTellings, type Outage, type OutageManner, PROOF_ALONE } from "../outage.ts";
import type { Telling } from "../scenario.ts";
import {
  type Care,
  LIVE,
  type PartName,
  type Preparations,
  type Stage,
  tellOnStage,
  toPart,
  toWorldSettings,
} from "../stage.ts";

/** A stage with a CloudStack. The zones are those of its parts, in their order. */
export type CsStage = Stage<CloudStackCloud>;

/** Which CloudStack it is, and how it is asked. */
interface How extends CloudStackChoices {
  /** The machines of each zone belong to another account, and an administrator asks. */
  readonly isShared?: boolean;
}

/** An outage of CloudStack. */
export interface CsOutage extends Outage<CloudStackCloud> {
  readonly how?: How;
}

/** A scenario that is told as it stands, with the settings of a new installation. */
export interface CsScript {
  readonly name: string;
  readonly how?: How;
  readonly act: (stage: CsStage) => Promise<void>;
}

/** Longer than a process takes to see that its file changed. */
const RELOAD_MS = 25_000;
/** The smallest page that Landfall asks for. */
export const SMALL_PAGE = 20;

/**
 * With nothing but the proof everywhere; with the settings of a new installation and by a process that starts meanwhile
 * in CI, because less can go wrong there. What only time tells from a deletion needs those settings.
 */
const MANNERS: readonly OutageManner[] = [
  { name: "default", deletion: DEFAULT_DELETION, restarts: false, isOfCi: true },
  { name: "proof-alone", deletion: PROOF_ALONE, restarts: false, isOfCi: false },
  { name: "proof-alone-restart", deletion: PROOF_ALONE, restarts: true, isOfCi: true },
];

/** Tells an outage in every manner. */
export function toTellings({ how = {}, ...outage }: CsOutage): Telling[] {
  const named = { ...outage, name: `cloudstack/${outage.name}` };
  return listTellings(named, MANNERS, RULES, (name, manner, act) => tell(name, manner, how, act));
}

/** Tells a script. */
export function toTelling({ name, how = {}, act }: CsScript): Telling {
  const full = `cloudstack/${name}`;
  const care = { deletion: DEFAULT_DELETION };
  return { name: full, isOfCi: false, tell: () => tell(full, care, how, act) };
}

function tell(name: string, care: Care, how: How, act: (stage: CsStage) => Promise<void>) {
  const world = new CloudStackWorld("settled", () => toWorldSettings(care), how);
  return tellOnStage(name, world, act, toPreparations(how));
}

const RULES = {
  // A process proves only that a machine is gone that it saw.
  provesUnseen: false,
  halt: (cloud: CloudStackCloud, vmId: string) => {
    const vm = cloud.find(vmId);
    if (vm) vm.state = "Stopped";
  },
  move: (cloud: CloudStackCloud, vmId: string) => {
    const vm = cloud.find(vmId);
    const offering = [...cloud.state.offerings.values()].at(-1);
    if (vm && offering) vm.offeringId = offering.id;
  },
  origins: {},
  lose: ({ state }: CloudStackCloud, vmId: string) => state.expunge(vmId),
};

/** With small pages the machines of beta are on the first one, those of alpha on the second. */
function toPreparations({ isShared }: How): Preparations<CloudStackCloud> {
  const between = ({ cloud }: CsStage): void => {
    for (let at = 1; at <= SMALL_PAGE; at += 1) cloud.addOther(`other-${at}`);
  };
  const after = (stage: CsStage): void => {
    const { state, places } = stage.cloud;
    for (const [name, vmId] of stage.world.machines) {
      if (isShared && toPart(name) === "beta") state.assign(vmId, places.strangerId);
    }
  };
  return { between, after };
}

/** Machines of a zone that stay, by their IDs. */
export function listVmIds(stage: CsStage, part: PartName): string[] {
  return LIVE.filter((name) => toPart(name) === part).map((name) => stage.toVmId(name));
}

/** From now on the keys of the settings are another user's. Returns what takes that back. */
export function swapKeys({ cloud: { server } }: CsStage, name: string): () => void {
  const mine = server.user;
  const other = [...server.state.users.values()].find(
    (one) => one.username === name && one !== mine,
  );
  if (other === undefined) throw new Error(`Cannot find user ${name}`);
  const swap = (): void => {
    const { apiKey, secretKey }: User = mine;
    Object.assign(mine, { apiKey: other.apiKey, secretKey: other.secretKey });
    Object.assign(other, { apiKey, secretKey });
  };
  swap();
  return swap;
}

/** People write other keys into the settings, which are soon in use. Returns what writes the first ones again. */
export async function writeKeys(stage: CsStage, secret: string): Promise<() => Promise<void>> {
  const { world } = stage;
  const { token: before } = world.said;
  const write = async (token: string): Promise<void> => {
    world.said = { ...world.said, token };
    for (const { file } of world.replicas) file.write(toSaying(world.cloud, world.said));
    await stage.pass(RELOAD_MS);
  };
  await write(secret);
  return () => write(before);
}
