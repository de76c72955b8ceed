/**
 * The whole SIPCluster controller on a simulated API server, with hosts in racks and Pods that start by themselves.
 * @module
 */
import type { FlagValues } from "../../../lib/controllers/definition.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import {
  type SipCluster,
  SIP_CLUSTERS,
  type SipClusterSpec,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { collectGarbage } from "../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import { rollOutDeployments } from "../../../lib/simulator/kubernetes/controllers/deployments.ts";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { createHost, planHosts, type RackPlan } from "../../../lib/simulator/metal3/hosts.ts";
import { ControllerStage } from "../controller_stage.ts";
import { PACE, PacedClock } from "../paced_clock.ts";

/** The namespace of the hosts. */
export const HOSTS = "metal3";
/** The namespace of the clusters. */
export const TENANT = "tenant";

/** A running controller and its world. */
export class SipStage extends ControllerStage<SipClusterSpec, SipCluster> {
  /** Starts it with hosts in racks, whose namespace is allowed. */
  static async start(racks: readonly RackPlan[], flags: FlagValues = {}): Promise<SipStage> {
    const stage = new SipStage({
      controller: sipClusterController,
      kinds: [SIP_CLUSTERS],
      namespace: TENANT,
      hosts: HOSTS,
      clock: new PacedClock(PACE),
      flags: { "sip-host-namespaces": HOSTS, ...flags },
      step: (objects) => {
        rollOutDeployments(objects, { now: new Date().toISOString() });
        collectGarbage(objects);
      },
    });
    for (const plan of planHosts(HOSTS, racks)) createHost(stage.kubernetes.objects, plan);
    await stage.run();
    return stage;
  }

  /** Names of the hosts that any cluster has. */
  listTaken(): string[] {
    return this.hosts
      .filter(({ metadata }) => labelsOf(metadata)["sip.airshipit.org/cluster-name"] !== undefined)
      .map(({ metadata }) => metadata.name);
  }

  /** Names of the hosts of a cluster, sorted, with role and `*` for standby: `r1-worker-1 Worker*`. */
  listHosts(cluster: string): string[] {
    return this.hosts
      .filter(({ metadata }) => labelsOf(metadata)["sip.airshipit.org/cluster-name"] === cluster)
      .map(({ metadata }) => {
        const labels = labelsOf(metadata);
        const mark = labels["sip.airshipit.org/standby"] === "true" ? "*" : "";
        return `${metadata.name} ${labels["sip.airshipit.org/node-type"]}${mark}`;
      })
      .toSorted();
  }

  /** Objects of a kind that belong to a cluster. */
  listOwned(plural: string): readonly ApiObject[] {
    return this.kubernetes.objects.list(plural, TENANT);
  }

  protected override countWork(): number {
    return this.countWrites() + this.countReconciles();
  }
}

function labelsOf(metadata: object): Readonly<Record<string, unknown>> {
  const { labels = {} } = metadata as { labels?: Readonly<Record<string, unknown>> };
  return labels;
}
