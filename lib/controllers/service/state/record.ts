/**
 * Keeps what a cloud must know after a restart in an annotation of the Service.
 * @module
 */
import type { LoadBalancerRecord } from "../../../cloud/capabilities/load_balancers.ts";
import type { Key, StoreReader } from "../../../kube/cache/store.ts";
import type { ManagedServices } from "./managed.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import type { ServiceWriter } from "./service_writer.ts";
import { RECORD } from "../words.ts";

/** Longest record, in bytes. */
const RECORD_BYTES_MAX = 1_024;

/**
 * The record of one Service. If Kubernetes does not have this Service any more, the record is in memory only.
 *
 * @param uid Of the Service; another one of the same name has another record
 */
export function createRecord(
  key: Key,
  uid: string | undefined,
  options: {
    readonly services: StoreReader<Service>;
    readonly managed: ManagedServices;
    readonly writer: Pick<ServiceWriter, "setRecord">;
  },
): LoadBalancerRecord {
  const { services, managed, writer } = options;
  return {
    async save(text, signal) {
      const bytes = Buffer.byteLength(text ?? "");
      if (bytes > RECORD_BYTES_MAX) {
        throw new RangeError(
          `Cannot keep a record of ${bytes} bytes: the limit is ${RECORD_BYTES_MAX} bytes`,
        );
      }
      const service = services.get(key);
      if (service === undefined || service.metadata.uid !== uid) {
        return managed.setRecord(key, text);
      }
      if (service.metadata.annotations?.[RECORD] === text) return;
      await writer.setRecord(service, text, signal);
    },
  };
}
