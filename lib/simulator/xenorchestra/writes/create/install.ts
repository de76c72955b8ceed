/**
 * The fifth step of a creation: what the machine starts from, for good.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import { toOperation, type Work } from "../backend.ts";
import { attachDisk } from "../steps/disks.ts";
import type { CreateBody } from "./body.ts";

/** Puts the network first, or a CD, which is attached. */
export async function applyInstall(
  work: Work,
  vm: XoRecord,
  { method, repository }: NonNullable<CreateBody["install"]>,
): Promise<void> {
  const letter = method === "network" ? "n" : "d";
  await work.call(toOperation("VM.set_HVM_boot_params", vm), () => {
    const boot = Object(vm["boot"]);
    const order = String(boot.order ?? "");
    vm["boot"] = { ...boot, order: letter + order.replaceAll(letter, "") };
  });
  if (method !== "cdrom") return;
  const iso = work.find("vdis", repository, "VDI");
  await attachDisk(work, vm, iso, { isCd: true, isReadOnly: true });
}
