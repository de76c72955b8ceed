/**
 * Who owns what in stories of CloudStack, and where it is.
 * @module
 */
import {
  type AccountType,
  toAccount,
  toDomain,
  toProject,
  toUser,
} from "../../../lib/simulator/cloudstack/access/accounts.ts";
import type { Vm, World } from "../../../lib/simulator/cloudstack/mod.ts";
import {
  toNetwork,
  toNic,
  toOffering,
  toZone,
} from "../../../lib/simulator/cloudstack/world/records.ts";
import type { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";

import { createSites, type SiteKind } from "./services/sites.ts";

/** What a story draws of them. */
export interface PlaceOptions {
  /** How many zones there are. */
  readonly zones: number;
  /** What the user may see. */
  readonly type: AccountType;
  /** Whether a plain user sees what is destroyed. */
  readonly seesDestroyed: boolean;
  /** Whether the machines are in a project. */
  readonly hasProject: boolean;
  /** Whether an administrator asks, who owns nothing. */
  readonly hasManager?: boolean;
  readonly secret: string;
  /** What the networks of the Nodes balance load by; absent: they do not. */
  readonly site?: SiteKind;
}

/** Accounts, and a world without machines. */
export interface Places extends Pick<PlaceOptions, "type" | "seesDestroyed" | "hasProject"> {
  readonly world: World;
  /** The same users, and nothing else. */
  readonly emptyWorld: World;
  /** The user's own account. */
  readonly accountId: string;
  /** The account that owns what is in the project. */
  readonly projectAccountId: string;
  /** An account of others. */
  readonly strangerId: string;
  /** The account that owns the machines of Nodes. */
  readonly ownerId: string;
  /** The project that the settings name; absent: none. */
  readonly project?: { readonly id: string; readonly name: string };
  /** Makes the user a member of the project again. */
  restoreProject(state: CloudStackState): void;
}

/** Creates them. */
export function createPlaces(options: PlaceOptions): Places {
  const { zones: count, seesDestroyed, hasProject, hasManager = false, secret, site } = options;
  const type = hasManager ? "admin" : options.type;
  const domain = toDomain("ROOT");
  const account = toAccount({ name: "acme", domain, type: options.type, seesDestroyed });
  const stranger = toAccount({ name: "ops", domain });
  const elsewhere = toDomain("other", "/other/");
  const outsider = toAccount({ name: "outsider", domain: elsewhere });
  const manager = toAccount({ name: "manager", domain, type: "admin" });
  const { project, account: projectAccount } = toProject("platform", domain, [account]);
  const zones = Array.from({ length: count }, (_, at) => toZone(`zone-${at + 1}`));
  const people: World = {
    domains: [domain, elsewhere],
    accounts: [account, stranger, outsider, manager, projectAccount],
    projects: [project],
    // The first one's keys are those of the settings.
    users: [...(hasManager ? [manager] : []), account, stranger, outsider].map((one, at) =>
      toUser({ username: one.name, account: one, ...toKeys(at === 0 ? secret : one.name) }),
    ),
  };
  const owner = hasProject ? projectAccount : account;
  const sites = site && createSites(site, zones, owner.id);
  const storage = zones.map(({ id: zoneId }) =>
    toNetwork({ name: "storage", zoneId, prefix: "172.16.1." }),
  );
  const open = zones.map(({ id: zoneId }) => toNetwork({ name: "k8s", zoneId }));
  return {
    type,
    seesDestroyed,
    hasProject,
    world: {
      ...people,
      zones,
      offerings: [toOffering("Small", 2, 4_096), toOffering("Large 8", 8, 16_384)],
      ...sites,
      networks: [...(sites?.networks ?? open), ...storage],
    },
    emptyWorld: people,
    accountId: account.id,
    projectAccountId: projectAccount.id,
    strangerId: stranger.id,
    ownerId: owner.id,
    ...(hasProject && { project }),
    restoreProject(state) {
      const found = state.projects.get(project.id);
      if (found) Object.assign(found, { memberIds: [account.id], state: "Active" });
    },
  };
}

/** Both keys of a user, made of one secret. */
export function toKeys(secret: string): { readonly apiKey: string; readonly secretKey: string } {
  return { apiKey: `api-${secret}`, secretKey: `secret-${secret}` };
}

/** Gives a machine an interface in a network of its zone. */
export function addNic(
  { networks }: CloudStackState,
  vm: Vm,
  nic: { readonly ipAddress: string; readonly isDefault: boolean },
): void {
  const name = nic.isDefault ? "k8s" : "storage";
  const network = [...networks.values()].find(
    (one) => one.zoneId === vm.zoneId && one.name === name,
  );
  if (network === undefined) throw new RangeError(`Zone ${vm.zoneId} has no network ${name}`);
  vm.nics.push(toNic({ vmName: `${vm.id}/${vm.nics.length}`, network, ...nic }));
}
