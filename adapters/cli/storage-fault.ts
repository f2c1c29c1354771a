import { CodedError } from "../../src/base/error.ts";
import type { RingportOptions } from "../../src/options.ts";
import { StorageLocked, StorageUnavailable } from "../../src/ports/storage.ts";
import { UsageError } from "./usage-error.ts";

/** Appends the fix to the error if the storage cannot be opened; returns other errors unchanged. */
export function withFix(error: unknown, { databaseUrl }: RingportOptions): unknown {
  const variable = databaseUrl === undefined ? "RINGPORT_DATA" : "DATABASE_URL";
  if (error instanceof StorageLocked)
    return new UsageError(`${error.message}; stop it, or name another one with ${variable}`, { cause: error });
  if (error instanceof StorageUnavailable)
    return new UsageError(`${error.message}; check ${variable}`, { cause: error });
  if (isRefusalOfPostgres(error)) return new UsageError(`${error.message}; check ${variable}`, { cause: error });
  return error;
}

/** True for SQLSTATE classes 28 and 3D: no such user, wrong password, no such database. */
function isRefusalOfPostgres(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^(28|3D)\w{3}$/.test(String(error.code));
}

/** True if the storage is currently unusable, or another server owns it; both may be temporary. */
export function isOutage(error: unknown): boolean {
  return error instanceof CodedError && error.code === "storage_unavailable";
}
