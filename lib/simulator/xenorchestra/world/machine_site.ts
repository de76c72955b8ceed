/**
 * A world in which machines are made: pools with storage, networks and templates, and machines of others.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import { toNetwork, toVif, toVm, type World, type XoRecord } from "../records.ts";
import { createPlaces, type Places } from "./places.ts";
import { toSr, toTemplate, toVbd, toVdi } from "./storage.ts";

/** The world, and what a test names in it. */
export interface MachineSite {
  readonly world: World;
  readonly poolIds: Places["poolIds"];
  readonly hostIds: Places["hostIds"];
  /**
   * Templates of Paris by name: `debian` has a disk of 10 GiB, an interface and tools; `blank` has a disk of 8 GiB and
   * no tools; `diskless` has nothing; `default` is one that XO lists under another ID than its UUID.
   */
  readonly templateIds: Readonly<Record<"debian" | "blank" | "diskless" | "default", string>>;
  /** Repositories of Paris by name; `tiny` has 5 GiB, `iso` an ISO. */
  readonly srIds: Readonly<Record<"local" | "fast" | "tiny" | "iso", string>>;
  /** Networks of Paris by name. */
  readonly networkIds: Readonly<Record<"oam" | "provisioning", string>>;
  /** A running machine of others in Paris, with a disk, and a disk of theirs that is attached to nothing. */
  readonly foreign: { readonly vmId: string; readonly vdiId: string; readonly looseVdiId: string };
}

const GIB = 1024 ** 3;

/** Two pools, five hosts; everything else in Paris. The same UUIDs in every run. */
export function createMachineSite(): MachineSite {
  const { poolIds, hostIds, world } = createPlaces();
  const srs = {
    // The default one of the pool.
    local: toSr({ name: "Local storage", poolId: poolIds.paris, id: toUuid("sr/paris") }),
    fast: toSr({ name: "fast", poolId: poolIds.paris }),
    tiny: toSr({ name: "Tiny SR", poolId: poolIds.paris, sizeBytes: 5 * GIB }),
    iso: toSr({ name: "ISOs", poolId: poolIds.paris, contentType: "iso" }),
  };
  const networks = {
    oam: toNetwork("oam", poolIds.paris),
    provisioning: toNetwork("provisioning", poolIds.paris),
  };
  const parts = createMachines(poolIds.paris, hostIds["xcp-par-2"], srs.local, networks.oam);
  const iso = toVdi({ id: toUuid("vdi/iso"), name: "debian.iso", sr: srs.iso, sizeBytes: GIB });
  const lyonSr = toSr({ name: "Local storage", poolId: poolIds.lyon, id: toUuid("sr/lyon") });
  return {
    world: {
      ...world,
      srs: [...Object.values(srs), lyonSr],
      networks: [...Object.values(networks), toNetwork("oam", poolIds.lyon)],
      ...parts.world,
      vdis: [...(parts.world.vdis ?? []), iso],
    },
    poolIds,
    hostIds,
    templateIds: parts.templateIds,
    srIds: { local: srs.local.id, fast: srs.fast.id, tiny: srs.tiny.id, iso: srs.iso.id },
    networkIds: { oam: networks.oam.id, provisioning: networks.provisioning.id },
    foreign: parts.foreign,
  };
}

type Parts = Pick<MachineSite, "world" | "templateIds" | "foreign">;

function createMachines(poolId: string, hostId: string, sr: XoRecord, network: XoRecord): Parts {
  const debian = toTemplate({ name: "vino-debian", id: toUuid("template/debian"), poolId });
  const blank = toTemplate({ name: "vino-blank", id: toUuid("template/blank"), poolId });
  const diskless = toTemplate({ name: "vino-diskless", id: toUuid("template/diskless"), poolId });
  const uuid = toUuid("template/default");
  const standard = {
    ...toTemplate({ name: "Debian Bookworm 12", id: `${poolId}-${uuid}`, poolId }),
    uuid,
    isDefaultTemplate: true,
  };
  const database = toVm({ name: "database", poolId, hostId, tags: ["prod"] });
  const owners: readonly [XoRecord, string, number][] = [
    [debian, "debian-root", 10 * GIB],
    [blank, "blank-root", 8 * GIB],
    [database, "database-root", 20 * GIB],
  ];
  const vdis: XoRecord[] = [];
  const vbds: XoRecord[] = [];
  for (const [owner, name, sizeBytes] of owners) {
    const vdi = toVdi({ id: toUuid(`vdi/${name}`), name, sr, sizeBytes });
    const vbd = toVbd({ id: toUuid(`vbd/${name}`), vm: owner, vdi, position: "0" });
    vdi["$VBDs"] = [vbd.id];
    owner["$VBDs"] = [vbd.id];
    vdis.push(vdi);
    vbds.push(vbd);
  }
  const vifs = [debian, database].map((owner) => {
    const vif = toVif(owner.id, network, 0);
    owner["VIFs"] = [vif.id];
    return vif;
  });
  const loose = toVdi({ id: toUuid("vdi/loose"), name: "old backup", sr, sizeBytes: GIB });
  return {
    world: {
      vms: [database],
      "vm-templates": [debian, blank, diskless, standard],
      vdis: [...vdis, loose],
      vbds,
      vifs,
    },
    templateIds: { debian: debian.id, blank: blank.id, diskless: diskless.id, default: uuid },
    foreign: {
      vmId: database.id,
      vdiId: toUuid("vdi/database-root"),
      looseVdiId: loose.id,
    },
  };
}
