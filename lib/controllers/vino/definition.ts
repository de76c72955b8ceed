/**
 * The controller of Vinos for the registry.
 * @module
 */
import { BARE_METAL_HOSTS, VINO_UID } from "../../kube/kinds/bare_metal_host.ts";
import { type ControllerDefinition, readTextFlag } from "../definition.ts";
import { MACHINES_FLAG, POOLS_NAMESPACE_FLAG } from "./flags.ts";
import { HOST_WORDS } from "./hosts/word_table.ts";
import {
  findMachinesUse,
  judgeRedfishFlags,
  readRedfishSettings,
  REDFISH_FLAGS,
  toManagementPlace,
} from "./redfish/flags.ts";
import { BOOT_OVERRIDE } from "./redfish/words.ts";
import { IP_POOLS } from "./resource/ip_pool.ts";
import { VINOES } from "./resource/vino.ts";
import { VINO_MACHINES } from "./resource/vino_machine.ts";
import { listRights } from "./rights.ts";
import {
  COMPONENT,
  CONFIRMED_REMOVAL,
  EVENT_WORDS,
  FINALIZER,
  GONE_POOLS,
  LEASE,
  NAME,
} from "./words.ts";

/** Makes virtual machines, and publishes each as a BareMetalHost. */
export const vinoController: ControllerDefinition = {
  name: NAME,
  aliases: [],
  isOffByDefault: true,
  kind: VINOES,
  needsCloud: true,
  needs: ["machines"],
  reportsLack: true,
  lease: LEASE,
  folder: "vino",
  confinement: { labels: [VINO_UID], accounts: [], roleRules: [] },
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: FINALIZER,
      where: "finalizer",
      meaning:
        "Landfall sets it on a Vino before it makes the first machine, and removes it when all that must go is gone. " +
        "On a VinoMachine it stands until nothing of the machine is left, or until its Vino is gone.",
    },
    {
      word: CONFIRMED_REMOVAL,
      where: "annotation",
      meaning:
        "You set it on a Vino to its `metadata.generation`: this spec may remove more machines at once than " +
        "`deletion.fleetShare` allows.",
    },
    {
      word: GONE_POOLS,
      where: "annotation",
      meaning:
        "You set it on a Vino to the IDs of pools that are gone for good with all their machines, separated by " +
        "commas: Landfall forgets machines that it would have to remove there.",
    },
    ...HOST_WORDS,
    {
      word: BOOT_OVERRIDE,
      where: "annotation",
      meaning:
        "Landfall sets it on the Secret `<BareMetalHost>-boot-override`: what the VM starts from once or always, and " +
        "the order to restore.",
    },
  ],
  flags: [MACHINES_FLAG, POOLS_NAMESPACE_FLAG, ...REDFISH_FLAGS],
  watches: [VINOES, VINO_MACHINES, IP_POOLS, BARE_METAL_HOSTS],
  loadKinds: async () => {
    const { VINO_KIND, VINO_MACHINE_KIND, IP_POOL_KIND } = await import("./resource/crd.ts");
    return [VINO_KIND, VINO_MACHINE_KIND, IP_POOL_KIND];
  },
  judgeFlags: judgeRedfishFlags,
  findManagementPlace: (flags) => {
    const settings = readRedfishSettings(flags);
    return settings && toManagementPlace(settings);
  },
  findMachinesUse,
  listNamespaces: (flags) => {
    const namespace = readTextFlag(flags, POOLS_NAMESPACE_FLAG);
    return [{ namespace, flag: POOLS_NAMESPACE_FLAG.name, use: "for all IPPools" }];
  },
  listRights,
  load: () => import("./mod.ts"),
};
