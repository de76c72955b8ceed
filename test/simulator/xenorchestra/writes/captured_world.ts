/**
 * The world in which writes were captured: the one of the captured reads, with what machines are made of.
 * @module
 */
import {
  type Collection,
  toNetwork,
  toVm,
  type World,
  type XoRecord,
} from "../../../../lib/simulator/xenorchestra/records.ts";
import {
  toSr,
  toTemplate,
  toVbd,
  toVdi,
} from "../../../../lib/simulator/xenorchestra/world/storage.ts";
import { readCaptureText } from "../../../support/cloud/captures.ts";

/** The pool of all captured writes. */
export const PARIS = "536ef866-bc2b-4a02-a05c-9d87caf8b89f";
/** The machine of all captured changes. */
export const VM = "e6a30936-95f7-4ba7-95c2-7e51348c8299";
/** The template that a creation left. */
const HALF_MADE = "ade6398c-c877-4723-a612-8ae5447519d9";

const GIB = 1024 ** 3;
const DEBIAN = "7e9eaf3c-94c5-4b76-a81f-4450ee1ffff9";
const BLANK = "6fd7b5c7-a6ea-4790-a81d-6aa2d90fde1e";
const DISKLESS = "bcba107d-10fe-4fdf-aaca-caa41af64291";

/** Creates it. */
export function createCapturedWorld(): World {
  const sr = toSr({ name: "Local", poolId: PARIS, id: "1db82e68-7c9b-465d-a670-199784565234" });
  const tiny = toSr({
    name: "Tiny SR",
    poolId: PARIS,
    id: "a046e257-07b4-4032-a4db-f2d4d87dceb3",
    sizeBytes: 5 * GIB,
  });
  const provisioning = {
    ...toNetwork("provisioning", PARIS),
    id: "a7e7ae84-9a8f-422a-a699-f0ad5b8bfa39",
    uuid: "a7e7ae84-9a8f-422a-a699-f0ad5b8bfa39",
  };
  const templates = [DEBIAN, BLANK, DISKLESS, HALF_MADE].map((id) =>
    toTemplate({ name: id.slice(0, 4), id, poolId: PARIS }),
  );
  const vms = [
    toVm({ name: "a-1", id: VM, poolId: PARIS, power: "Halted" }),
    toVm({ name: "r-1", id: "bfffd68c-e940-4899-a3fa-666ba6800b36", poolId: PARIS }),
  ];
  const vdis: XoRecord[] = [];
  const vbds: XoRecord[] = [];
  for (const vm of templates.filter(({ id }) => id !== DISKLESS)) {
    const vdi = toVdi({ id: `disk-${vm.id}`, name: "root", sr, sizeBytes: 10 * GIB });
    const vbd = toVbd({ id: `link-${vm.id}`, vm, vdi, position: "0" });
    vdis.push(vdi);
    vbds.push(vbd);
  }
  return {
    pools: readRecords("pools"),
    hosts: readRecords("hosts"),
    servers: readRecords("servers"),
    networks: [...readRecords("networks"), provisioning],
    srs: [sr, tiny],
    "vm-templates": templates,
    vms,
    vdis,
    vbds,
  };
}

function readRecords(collection: Collection): XoRecord[] {
  const { response } = JSON.parse(readCaptureText(`${collection}-all-fields`));
  return response.body;
}
