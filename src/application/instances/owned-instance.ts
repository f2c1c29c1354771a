import { isId } from "../../base/ids.ts";
import { mayUseInstance } from "../../domain/access/ownership.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Storage } from "../../ports/storage.ts";

/** @throws {Refusal} `instance_not_found`: unknown, deleted, or another user's */
export async function ownedInstance(
  storage: Pick<Storage, "instances">,
  principal: Principal,
  instanceId: string,
): Promise<Instance> {
  const instance = await ownedOrDeletedInstance(storage, principal, instanceId);
  if (instance.status === "DELETED") throw instanceNotFound(instanceId);
  return instance;
}

/** The principal's instance, even if it is deleted. @throws {Refusal} `instance_not_found` */
export async function ownedOrDeletedInstance(
  { instances }: Pick<Storage, "instances">,
  principal: Principal,
  instanceId: string,
): Promise<Instance> {
  const instance = isId("inst", instanceId) ? await instances.get(instanceId) : undefined;
  if (!instance || !mayUseInstance(principal, instance)) throw instanceNotFound(instanceId);
  return instance;
}

/** The refusal for an instance that does not exist for this principal. */
export function instanceNotFound(instanceId: string): Refusal {
  return new Refusal("instance_not_found", `there is no instance "${shortenedId(instanceId)}"`);
}

/** The beginning of an id from a caller, long enough to recognise it. */
export function shortenedId(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
