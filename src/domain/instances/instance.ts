import type { Transitions } from "../../base/state-machine.ts";
import type { Pause } from "../dialling-rules/number-protection.ts";
import type { CallerId } from "../numbers/caller-id.ts";

/** Statuses of an instance, in the order of its lifecycle. */
export const INSTANCE_STATUSES = ["CREATED", "CONFIGURED", "ACTIVE", "DELETED"] as const;
/** Status of an instance: without a number, linked, able to call, deleted. */
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** Inputs of a stored instance. */
export type InstanceInput = "link" | "activate" | "deactivate" | "unlink" | "delete";

/** Every legal move of an instance. */
export const INSTANCE_TRANSITIONS: Transitions<InstanceStatus, InstanceInput> = {
  CREATED: { link: "CONFIGURED", delete: "DELETED" },
  CONFIGURED: { activate: "ACTIVE", unlink: "CREATED", delete: "DELETED" },
  ACTIVE: { deactivate: "CONFIGURED", unlink: "CREATED", delete: "DELETED" },
  DELETED: {},
};

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
/** Data of the application, stored with an instance and returned unchanged. */
export type Metadata = { [key: string]: JsonValue };

/** A number of an instance, whose dials are counted. */
export interface DialledNumber {
  /** Identifies the number without revealing it. */
  readonly mark: string;
  /** Time from which dials belong to this number, ms since 1970-01-01 UTC. */
  readonly since: number;
  /** Set if `since` may come from a fast clock: calls of this number have greater ids. */
  readonly after?: string | undefined;
}

/** A phone number, linked or to be linked. Times are ms since 1970-01-01 UTC. */
export interface Instance {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly status: InstanceStatus;
  readonly metadata: Metadata;
  /** Network of this instance: `simulator`, `sip/<trunk>`, `whatsapp`. */
  readonly provider: string;
  /** The linked number, once known; E.164. */
  readonly phone: string | null;
  /** The caller of its calls; null or undefined: the network's own. */
  readonly callerId?: CallerId | null | undefined;
  /** Time at which its number was linked; null or undefined while none is. */
  readonly linkedAt?: number | null | undefined;
  /** The latest pause of its number, which may have ended; null or undefined if it had none. */
  readonly pause?: Pause | null | undefined;
  /** The number to which its dials belong, linked or not; null or undefined: the first number, from the beginning. */
  readonly dialledNumber?: DialledNumber | null | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * Time at which its deletion was finished and its credentials were erased; null before, and while it is not deleted.
   */
  readonly erasedAt: number | null;
  /** Number of writes; a write names the version it expects. */
  readonly version: number;
}
