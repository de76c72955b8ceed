/**
 * Lists which changes of a Service are a reason to look at its load balancer again. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { hasCloudLoadBalancer, type Service } from "../../../kube/kinds/service.ts";
import { isWanted, needsCleanup, type ServedClasses } from "./which.ts";
import { RECORD } from "../words.ts";

/**
 * All fields that decide about the load balancer of a Service; nothing for a Service that has none and wants none. Our
 * own annotation and the status are none of them: a change of theirs is our own, or {@linkcode isDrift}.
 */
export function listInputs(service: Service, classes: ServedClasses): readonly unknown[] {
  if (!isWanted(service, classes) && !needsCleanup(service)) return [];
  const { metadata, spec = {} } = service;
  const { [RECORD]: _own, ...annotations } = metadata.annotations ?? {};
  return [
    metadata.uid,
    metadata.deletionTimestamp !== undefined,
    metadata.labels ?? {},
    annotations,
    spec,
  ];
}

/** What the user of a Service asks for: its inputs without what programs that announce addresses write. */
export function listAsked({ metadata, spec }: Service): readonly unknown[] {
  const asked = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => key !== RECORD && !key.startsWith("kube-vip.io/"),
  );
  return [metadata.uid, metadata.labels ?? {}, Object.fromEntries(asked), spec];
}

/** Whether another program or a user wrote a load balancer of its own into the status. */
export function isForeignWrite(before: Service, after: Service): boolean {
  const shown = after.status?.loadBalancer?.ingress ?? [];
  return shown.length > 0 && !isDeepStrictEqual(before.status?.loadBalancer?.ingress, shown);
}

/** Whether another program or a user changed what we wrote: the status, or the finalizer. */
export function isDrift(
  before: Service,
  after: Service,
  isSettled: (service: Service) => boolean,
): boolean {
  const isSame =
    isDeepStrictEqual(before.status, after.status) &&
    hasCloudLoadBalancer(before) === hasCloudLoadBalancer(after);
  return !isSame && !isSettled(after);
}
