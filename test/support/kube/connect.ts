/**
 * A client of an API server that a test started.
 * @module
 */
import { systemClock } from "../../../lib/core/clock.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { createKubeClient, type KubeClientOptions } from "../../../lib/kube/api/http_client.ts";
import { type CredentialsSource, loadCredentials } from "../../../lib/kube/credentials/mod.ts";

/** Connects to the address or by the kubeconfig. */
export async function connect(
  source: Pick<CredentialsSource, "master" | "kubeconfig">,
  options: Partial<KubeClientOptions> = {},
): Promise<KubeClient> {
  const { clock = systemClock, metrics = new MetricsRegistry() } = options;
  const credentials = await loadCredentials({ ...source, env: {}, clock });
  return createKubeClient({ credentials, clock, metrics, version: "test", ...options });
}
