/**
 * The out-of-service controller for the registry.
 * @module
 */
import type { OutOfServiceSettings } from "../../cloud/deletion/streak.ts";
import { OUT_OF_SERVICE } from "../../cloud/settings/sections.ts";
import { NODES } from "../../kube/kinds/node.ts";
import type { ControllerDefinition } from "../definition.ts";
import {
  EXCLUSION_LABEL,
  OUT_OF_SERVICE_RECORD,
  OUT_OF_SERVICE_TAINT,
} from "../fleet/out_of_service.ts";
import { COMPONENT, EVENT_WORDS, GRACE_FLAG, NAME, SYNC_FLAG } from "./words.ts";
import { toRights } from "../../kube/access/rights.ts";

const OPTIONAL = { mandatory: false };
const OBJECTS = { group: "", resource: "nodes" };
const ATTACHMENTS = { group: "storage.k8s.io", resource: "volumeattachments" };

const { key, value, effect } = OUT_OF_SERVICE_TAINT;

/** Lets Kubernetes detach the volumes of Nodes whose machines are proven off or gone. */
export const nodeOutOfServiceController: ControllerDefinition<OutOfServiceSettings> = {
  name: NAME,
  aliases: ["cloud-node-out-of-service-controller"],
  isOffByDefault: true,
  kind: NODES,
  needsCloud: true,
  needs: ["provenOff"],
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: `${key}=${value}:${effect}`,
      where: "taint",
      meaning:
        "Landfall sets it on a Node whose kubelet is silent and whose machine is proven off or gone. Landfall " +
        "removes it when the machine runs again.",
    },
    {
      word: OUT_OF_SERVICE_RECORD,
      where: "annotation",
      meaning:
        "Landfall's record of that taint: the time and the boot ID of the Node at that time. Landfall removes " +
        "only a taint with this record.",
    },
    {
      word: EXCLUSION_LABEL,
      where: "label",
      meaning: "You set it on Nodes that must never get that taint. Its value does not matter.",
    },
  ],
  flags: [SYNC_FLAG, GRACE_FLAG],
  section: OUT_OF_SERVICE,
  watches: [],
  listRights: () => [
    ...toRights(
      OBJECTS,
      ["get"],
      "to look once more before the out-of-service taint is set or removed",
    ),
    ...toRights(OBJECTS, ["patch"], "to set and remove the out-of-service taint"),
    ...toRights(
      ATTACHMENTS,
      ["get", "list"],
      "to know which volumes are attached to a Node",
      OPTIONAL,
    ),
    ...toRights(ATTACHMENTS, ["watch"], "to see them detached", OPTIONAL),
  ],
  load: () => import("./mod.ts"),
};
