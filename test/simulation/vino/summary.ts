/**
 * Everything that machines leave behind in a Xen Orchestra, in a form by which two runs can be compared: names instead
 * of IDs, sorted, without times.
 * @module
 */
import type { XoRecord } from "../../../lib/simulator/xenorchestra/mod.ts";
import type { VinoWorld } from "./world.ts";

/** The state of the cloud, without what belongs to others. */
interface CloudSummary {
  readonly machines: readonly object[];
  /** Names of templates that are not of the site. */
  readonly templates: readonly string[];
  /** Names of disks that are attached to nothing. */
  readonly looseDisks: readonly string[];
  readonly snapshots: readonly string[];
  /** IDs of what belongs to others and changed. */
  readonly touched: readonly string[];
}

/** Summarizes the cloud of a world. */
export function summarizeCloud({ cloud, cloudJudge: { watcher } }: VinoWorld): CloudSummary {
  const { state } = cloud;
  const listOwn = (collection: Parameters<typeof state.all>[0]): XoRecord[] =>
    [...state.all(collection).values()].filter(({ id }) => !watcher.isForeign(id));
  const toName = (collection: "srs" | "networks" | "hosts", id: unknown): string =>
    String(state.all(collection).get(String(id))?.["name_label"]);
  const toDisk = (vbd: XoRecord): object => {
    const vdi = state.all("vdis").get(String(vbd["VDI"]));
    const content = cloud.contents.get(String(vbd["VDI"]));
    return {
      position: vbd["position"],
      isReadOnly: vbd["read_only"],
      name: vdi?.["name_label"],
      description: vdi?.["name_description"],
      size: vdi?.["size"],
      storage: toName("srs", vdi?.["$SR"]),
      content: content && Bun.hash(content).toString(),
    };
  };
  const toInterface = (vif: XoRecord): object => ({
    device: vif["device"],
    mac: vif["MAC"],
    network: toName("networks", vif["$network"]),
  });
  const machines = listOwn("vms").map((vm) => ({
    name: vm["name_label"],
    description: vm["name_description"],
    tags: [...(vm["tags"] as string[])].toSorted(),
    power: vm["power_state"],
    host: toName("hosts", vm["$container"]),
    cpus: vm["CPUs"],
    memory: vm["memory"],
    boot: vm["boot"],
    blocked: vm["blockedOperations"],
    disks: toSorted(
      listOwn("vbds")
        .filter((vbd) => vbd["VM"] === vm.id)
        .map(toDisk),
    ),
    interfaces: toSorted(
      listOwn("vifs")
        .filter((vif) => vif["$VM"] === vm.id)
        .map(toInterface),
    ),
  }));
  const isLoose = ({ id }: XoRecord): boolean =>
    ![...state.all("vbds").values()].some((vbd) => vbd["VDI"] === id);
  return {
    machines: toSorted(machines),
    templates: toNames(listOwn("vm-templates")),
    looseDisks: toNames(listOwn("vdis").filter(isLoose)),
    snapshots: toNames(listOwn("vm-snapshots")),
    touched: watcher.listTouched(),
  };
}

function toNames(records: readonly XoRecord[]): string[] {
  return records.map((record) => String(record["name_label"])).toSorted();
}

function toSorted(items: readonly object[]): object[] {
  return items.toSorted((one, two) => (JSON.stringify(one) < JSON.stringify(two) ? -1 : 1));
}
