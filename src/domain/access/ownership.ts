import type { Principal } from "./principal.ts";

/** The owner of a record, and the instance that the record belongs to. */
export interface OwnedRecord {
  readonly userId: string;
  readonly instanceId: string;
}

/**
 * True if the principal may use a record: it is the user's own and, with a demo token, belongs to the token's instance.
 */
export function mayUse(principal: Principal, { userId, instanceId }: OwnedRecord): boolean {
  return principal.userId === userId && mayUseInstanceId(principal, instanceId);
}

/** True if {@link mayUse} allows the instance. */
export function mayUseInstance(principal: Principal, { id, userId }: { id: string; userId: string }): boolean {
  return mayUse(principal, { userId, instanceId: id });
}

/** True if the principal's token allows an instance, for any owner: a demo token allows only its own. */
export function mayUseInstanceId({ demoInstanceId }: Principal, instanceId: string): boolean {
  return demoInstanceId === undefined || demoInstanceId === instanceId;
}

/**
 * The part of the user's records that a list may return; undefined if it is empty.
 * @param instanceId the requested instance; undefined for all instances
 */
export function visiblePart(principal: Principal, instanceId: string | undefined): { instanceId?: string } | undefined {
  const { demoInstanceId } = principal;
  const selectedId = instanceId ?? demoInstanceId;
  if (selectedId === undefined) return {};
  return mayUseInstanceId(principal, selectedId) ? { instanceId: selectedId } : undefined;
}
