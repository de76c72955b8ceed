/**
 * What the words on BareMetalHosts of machines mean, for the reference page.
 * @module
 */
import { VINO_UID } from "../../../kube/kinds/bare_metal_host.ts";
import type { ObjectWord } from "../../definition.ts";
import {
  FAILURE_DOMAIN,
  FLAVOR,
  HOST,
  LABELS_RECORD,
  MACHINE_ID,
  MACHINE_NAME,
  NETWORK_PREFIX,
  PUBLISH_AGAIN,
  ROLE,
  VINO_NAME,
} from "./words.ts";

/** The words, in the order of the reference page. */
export const HOST_WORDS: readonly ObjectWord[] = [
  {
    word: VINO_UID,
    where: "label",
    meaning:
      "Landfall sets it on a BareMetalHost and its Secrets: the UID of the Vino that they were made for. Landfall " +
      "changes and deletes only hosts with the right UID.",
  },
  {
    word: VINO_NAME,
    where: "label",
    meaning:
      "Landfall sets it on the same: the name of the Vino, shortened if it is longer than a label may be.",
  },
  {
    word: ROLE,
    where: "label",
    meaning: "Landfall sets it on a BareMetalHost: the role of its VM.",
  },
  {
    word: FLAVOR,
    where: "label",
    meaning:
      "Landfall sets it on a BareMetalHost: the role, too, unless `bmhLabels` has another value.",
  },
  {
    word: HOST,
    where: "label",
    meaning:
      "Landfall sets it on a BareMetalHost: the ID of the host in the cloud. It follows the VM, and stays while the " +
      "VM is off.",
  },
  {
    word: `${NETWORK_PREFIX}<name>`,
    where: "label",
    meaning:
      "Landfall sets it on a BareMetalHost, without a value: the VM has an interface in this network.",
  },
  {
    word: FAILURE_DOMAIN,
    where: "label",
    meaning:
      "Landfall sets it on a BareMetalHost if `failureDomain` asks for it: the ID of the host or the pool.",
  },
  {
    word: MACHINE_NAME,
    where: "annotation",
    meaning: "Landfall sets it on a BareMetalHost: the name of the VM.",
  },
  {
    word: MACHINE_ID,
    where: "annotation",
    meaning:
      "Landfall sets it on a BareMetalHost: the ID of the VM. If the VM is another one, Landfall makes the host again.",
  },
  {
    word: LABELS_RECORD,
    where: "annotation",
    meaning:
      "Landfall sets it on a BareMetalHost: the labels from `bmhLabels`, tags and `failureDomain`. Landfall removes " +
      "only these.",
  },
  {
    word: PUBLISH_AGAIN,
    where: "annotation",
    meaning:
      "You set it to `true` on a Vino: no other cluster has hosts that were moved away. Landfall makes them again, " +
      "or removes their VMs if the Vino does not want them. Remove it then.",
  },
];
