import { type RawBuilder, sql } from "kysely";

// A database uses a partial index only if the query repeats its condition word for word. So each condition is written
// here once, without parameters. Migrations repeat them, because migrations never change.

/** A call that holds a slot of its instance's queue. */
export const IS_ACTIVE: RawBuilder<boolean> = sql<boolean>`status in ('QUEUED', 'RINGING', 'IN_PROGRESS')`;
/** A call that occupies its instance's line. */
export const IS_ON_LINE: RawBuilder<boolean> = sql<boolean>`status in ('RINGING', 'IN_PROGRESS')`;
export const IS_FINAL: RawBuilder<boolean> = sql<boolean>`status in ('COMPLETED', 'FAILED')`;
export const IS_QUEUED: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED'`;
/** A queued call that no process has claimed. */
export const IS_WAITING: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED' and owner is null`;
/** A queued call whose phone may already be ringing. */
export const IS_DIALING: RawBuilder<boolean> = sql<boolean>`status = 'QUEUED' and dialing_at is not null`;
/** A call that was dialled. */
export const IS_DIALLED: RawBuilder<boolean> = sql<boolean>`dialing_at > 0`;
/** A call with a recording. */
export const IS_RECORDED: RawBuilder<boolean> = sql<boolean>`recorded_ms > 0`;
/** An instance whose number is linked. */
export const IS_LINKED: RawBuilder<boolean> = sql<boolean>`status in ('CONFIGURED', 'ACTIVE')`;
/** An instance without a number. */
export const IS_UNLINKED: RawBuilder<boolean> = sql<boolean>`status = 'CREATED'`;
/** An event that names a linked number. */
export const IS_LINK: RawBuilder<boolean> = sql<boolean>`type = 'instance.linked'`;
export const IS_NOT_DELETED: RawBuilder<boolean> = sql<boolean>`status <> 'DELETED'`;
/** An instance whose deletion is unfinished. */
export const IS_HALF_DELETED: RawBuilder<boolean> = sql<boolean>`status = 'DELETED' and erased_at is null`;
/** A webhook that is not disabled. */
export const IS_ENABLED: RawBuilder<boolean> = sql<boolean>`disabled_reason is null`;
/** A delivery that is not pending. */
export const IS_OVER: RawBuilder<boolean> = sql<boolean>`status <> 'pending'`;
/** A delivery that its receiver has accepted. */
export const IS_DELIVERED: RawBuilder<boolean> = sql<boolean>`status = 'delivered'`;
/** A test or a replay, which a user asked for, that is not pending. */
export const IS_REQUESTED_AND_OVER: RawBuilder<boolean> = sql<boolean>`requested = 1 and status <> 'pending'`;
/** A token that was revoked. */
export const IS_REVOKED: RawBuilder<boolean> = sql<boolean>`revoked_at is not null`;
/** The one account of the administrator. */
export const IS_ADMIN: RawBuilder<boolean> = sql<boolean>`role = 'admin'`;
/** The one code of the first start. */
export const IS_FIRST_CODE: RawBuilder<boolean> = sql<boolean>`purpose = 'first'`;
/** A code that lets a person register. */
export const IS_INVITATION: RawBuilder<boolean> = sql<boolean>`purpose = 'invitation'`;
/** A code for a new password, one for each account. */
export const IS_RESET_CODE: RawBuilder<boolean> = sql<boolean>`purpose = 'reset'`;
