/**
 * What the demo prints before its story.
 * @module
 */
import { formatDuration } from "../../core/text/values.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";
import type { DemoCloud } from "./cloud.ts";
import { type DemoFiles, toEnvLines, toPageLine } from "./files.ts";
import { SILENCE_MS } from "./kubelets.ts";
import {
  DELETION,
  NODE_MONITOR_PERIOD_MS,
  OUT_OF_SERVICE,
  REFRESH_INTERVAL,
  SERVICE_SYNC_PERIOD_MS,
} from "./waits.ts";

/** What the introduction shows. */
export interface Introduced {
  readonly cloud: Pick<DemoCloud, "title" | "url" | "summary">;
  readonly files: Pick<DemoFiles, "env" | "isFish">;
  /** Of the debug pages, with the real port. */
  readonly debugAddress: ListenAddress;
  /** URL of the simulated API server. */
  readonly kubernetes: string;
  readonly hasOutOfService: boolean;
  /** Whether the story has Services with load balancers. */
  readonly hasServices: boolean;
}

/** Says what runs, which waits are shorter than usual, and how to watch. Without a newline at its end. */
export function toIntroduction(shown: Introduced): string {
  const { kubernetes, cloud, files, debugAddress, hasOutOfService, hasServices } = shown;
  const holdOff = formatDuration(DELETION.holdOffMs);
  const grace = formatDuration(OUT_OF_SERVICE.graceMs);
  const period = formatDuration(NODE_MONITOR_PERIOD_MS);
  const syncPeriod = formatDuration(SERVICE_SYNC_PERIOD_MS);
  const silence = formatDuration(SILENCE_MS);
  return `\
A simulated Kubernetes API listens at ${kubernetes}
A simulated ${cloud.title} listens at ${cloud.url}: ${cloud.summary}

Landfall itself is real. To keep the demo short, some waits are shorter than usual:

  refreshInterval            ${REFRESH_INTERVAL}   usually 30s
  deletion.holdOff           ${holdOff}   usually 60s
${hasOutOfService ? `  outOfService.graceDuration ${grace}   usually 30s\n` : ""}\
  --node-monitor-period      ${period}   usually 5s
${hasServices ? `  --service-sync-period      ${syncPeriod}   usually 10m\n` : ""}\
  kubelet silent: NotReady   ${silence}   usually 50s

Watch it in another terminal. ${toEnvLines(files)}
  kubectl get nodes -w -L topology.kubernetes.io/zone
  landfall check${toPageLine(debugAddress, "/debug/")}`;
}
