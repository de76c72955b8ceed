/**
 * What must be true once nothing goes wrong any more.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { World } from "../world/mod.ts";

/** Says what is not as it should be; nothing when all is. */
export function listUntrue(world: World): string[] {
  const wrongs = world.server.nodes.flatMap((node) =>
    listWrongs(world, node).map((wrong) => `Node ${node.metadata.name} ${wrong}`),
  );
  const untrue = world.cloud.balancing?.listUntrue(world) ?? [];
  return [...wrongs, ...listOutdated(world), ...untrue];
}

/** Processes that are not under the settings that their files say. */
function listOutdated({ replicas, said }: World): string[] {
  const running = replicas.flatMap(({ current }) => current ?? []);
  return running
    .filter(({ uses }) => !isDeepStrictEqual(uses.at(-1)?.said, said))
    .map(({ process }) => `${process.name} is not under the settings of its file`);
}

function listWrongs(world: World, node: Node): string[] {
  const { machines, truth } = world;
  if (world.isForeign(node.metadata.name)) return [];
  const vmId = machines.get(node.metadata.name) ?? "";
  if (!truth.has(vmId)) return node.spec?.providerID ? ["has no machine"] : [];
  const keys = new Set((node.spec?.taints ?? []).map(({ key }) => key.split("/")[1]));
  const wrongs: string[] = [];
  if (keys.has("uninitialized")) wrongs.push("is not initialised");
  if (!node.spec?.providerID?.endsWith(`/${vmId}`)) wrongs.push("has a wrong provider ID");
  if (keys.has("out-of-service") && truth.isRunning(vmId)) wrongs.push("is out of service");
  if (keys.has("shutdown") === truth.isRunning(vmId)) wrongs.push("has a wrong shutdown taint");
  const wanted = truth.toLabels(vmId, world.said.labels);
  for (const key of new Set([...Object.keys(wanted), ...world.cloud.labels.passing])) {
    if (node.metadata.labels?.[key] !== wanted[key]) wrongs.push(`has a wrong label ${key}`);
  }
  const address = truth.findAddress(vmId);
  const isTold = node.status?.addresses?.some((one) => one.address === address);
  const isWanted = address !== undefined && !world.said.leavesAddresses;
  if (isWanted && !isTold) wrongs.push(`lacks address ${address}`);
  return wrongs;
}

/** How often processes that run have put a Node off until later, and how many wait in their queues now. */
export function countRetries({ replicas }: World): number {
  let count = 0;
  for (const { current } of replicas) {
    for (const line of current?.metrics.render().split("\n") ?? []) {
      if (/^workqueue_(retries_total|depth)\b/.test(line)) count += Number(line.split(" ").at(-1));
    }
  }
  return count;
}
