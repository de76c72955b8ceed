/**
 * Prints what happens to the Nodes of the demo, as the cluster shows it.
 * @module
 */
import {
  isOutOfServiceByUs,
  OUT_OF_SERVICE_TAINT,
} from "../../controllers/fleet/out_of_service.ts";
import { isReady, isUninitialized } from "../../controllers/identity.ts";
import {
  EVENT_WORDS as LIFECYCLE_EVENTS,
  SHUTDOWN_TAINT,
} from "../../controllers/node_lifecycle/words.ts";
import { TOPOLOGY_LABELS } from "../../controllers/words.ts";
import { toPlainText } from "../../core/text/printable.ts";
import type { KubeEvent } from "../../kube/kinds/event.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { hasCloudLoadBalancer, type Service } from "../../kube/kinds/service.ts";
import type { DemoCloud } from "./cloud.ts";
import type { Stage } from "./story/stage.ts";

type Reference = KubeEvent["involvedObject"];

/** What a cloud says about a Node. */
type Words = Pick<DemoCloud, "describe" | "describePlace">;

const [ZONE_LABEL] = TOPOLOGY_LABELS.zone;
const [TYPE_LABEL] = TOPOLOGY_LABELS.instanceType;

/** Prints changes of Nodes and of the addresses of Services, and all Warnings. Returns what stops it. */
export function printChanges({
  view,
  tell,
  cloud,
}: Pick<Stage, "view" | "tell"> & { readonly cloud: Words }): () => void {
  const unsubscribe = [
    view.nodes.subscribe((name, before, after) => {
      for (const line of tellNode(name, { before, after }, cloud)) tell(line);
    }),
    view.services.subscribe((_key, before, after) => {
      const line = tellService(before, after);
      if (line !== undefined) tell(line);
    }),
    view.events.subscribe((_key, before, after) => {
      if (after === undefined || before !== undefined || !isWorthTelling(after)) return;
      tell(toLine("!", `${toName(after.involvedObject)}: ${after.reason}: ${after.message}`));
    }),
  ];
  return () => {
    for (const end of unsubscribe) end();
  };
}

function tellNode(
  name: string,
  { before, after }: { readonly before: Node | undefined; readonly after: Node | undefined },
  cloud: Words,
): string[] {
  if (after === undefined) return [toLine("-", `${name} is deleted`)];
  if (before === undefined) return [toLine("+", `${name} registers, system UUID ${toUuid(after)}`)];
  if (isUninitialized(before)) {
    if (isUninitialized(after)) return [];
    return [toLine("=", `${name} is ${after.spec?.providerID}, ${cloud.describe(after)}`)];
  }
  const lines: string[] = [];
  const [old, labels] = [before, after].map((node) => node.metadata.labels);
  if (old?.[ZONE_LABEL] !== labels?.[ZONE_LABEL]) {
    lines.push(toLine("~", `${name} is ${cloud.describePlace(after)}`));
  }
  if (old?.[TYPE_LABEL] !== labels?.[TYPE_LABEL]) {
    lines.push(toLine("~", `${name} has the instance type ${labels?.[TYPE_LABEL]}`));
  }
  if (isReady(before) !== isReady(after)) {
    lines.push(toLine("~", `${name} is ${isReady(after) ? "Ready" : "NotReady"}`));
  }
  if (hasShutdownTaint(before) !== hasShutdownTaint(after)) {
    const taint = `${SHUTDOWN_TAINT.key}:${SHUTDOWN_TAINT.effect}`;
    lines.push(
      toLine("~", `${name} ${hasShutdownTaint(after) ? "is" : "is no longer"} tainted ${taint}`),
    );
  }
  if (isOutOfServiceByUs(before) !== isOutOfServiceByUs(after)) {
    const { key, value, effect } = OUT_OF_SERVICE_TAINT;
    const verb = isOutOfServiceByUs(after) ? "is" : "is no longer";
    lines.push(toLine("~", `${name} ${verb} tainted ${key}=${value}:${effect}`));
  }
  return lines;
}

/** Tells nothing of the end of a Service that no cloud worked on. */
function tellService(before: Service | undefined, after: Service | undefined): string | undefined {
  if (after === undefined) {
    if (before === undefined || !hasCloudLoadBalancer(before)) return undefined;
    return toLine("-", `${toName(before.metadata)} is deleted, and Landfall is done with it`);
  }
  const [old, now] = [before, after].map((service) => listAddresses(service));
  if (old === now || before === undefined) return undefined;
  const has = now === "" ? "no address" : `the address ${now}`;
  return toLine("~", `${toName(after.metadata)} has ${has}`);
}

function listAddresses(service: Service | undefined): string {
  const ingress = service?.status?.loadBalancer?.ingress ?? [];
  return ingress.map(({ ip, hostname }) => ip ?? hostname).join(", ");
}

/** As commands take it: a Node has no namespace. */
function toName({ namespace = "", name = "" }: Pick<Reference, "name" | "namespace">): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Names and Events may come from other clients: no text moves the cursor or sets colours. */
function toLine(mark: string, text: string): string {
  return `  ${mark}  ${toPlainText(text)}`;
}

/** Whether a Node has the shutdown taint. */
export function hasShutdownTaint({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === SHUTDOWN_TAINT.key) ?? false;
}

function isWorthTelling({ type, reason }: KubeEvent): boolean {
  return type === "Warning" || reason === LIFECYCLE_EVENTS.deleting.reason;
}

function toUuid(node: Node): string {
  return node.status?.nodeInfo?.systemUUID ?? "unknown";
}
