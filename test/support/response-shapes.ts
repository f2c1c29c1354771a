import { expect } from "vitest";
import type { ProblemView } from "./server-client.ts";
import type { HttpResponse } from "./server-http.ts";

/** Exact members of every response, as the interface's tables name them. */
export const KEYS = {
  createdCall: ["id", "instance_id", "type", "status", "target_phone", "created_at"],
  call: ["id", "instance_id", "type", "status", "target_phone", "started_at", "ended_at", "created_at"],
  queuedCall: ["id", "type", "status", "target_phone", "created_at"],
  instance: ["id", "name", "status", "metadata", "created_at", "updated_at"],
  instanceDetails: ["id", "name", "status", "metadata", "callQueue", "created_at", "updated_at"],
  linkingCode: ["instanceId", "qrCodeBase64", "message"],
  connection: ["state", "condition", "phone", "last_seen_at", "reason", "provider"],
  outcome: ["reason", "detail", "answered_by", "heard_ms", "heard_ratio", "heard_evidence", "duration_ms"],
  event: ["id", "type", "timestamp", "call_id", "instance_id", "sequence", "data"],
  voice: ["id", "language", "engine", "name", "quality", "alias_of", "sample_url"],
} as const;

/** The members of an object, in a canonical order. */
export const keysOf = (value: unknown): string[] => Object.keys(value as object).sort();
export const sorted = (names: readonly string[]): string[] => [...names].sort();

/** RFC 3339, UTC, milliseconds. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** A TypeID: prefix, `_`, 26 characters of base32. */
export const ID = {
  instance: /^inst_[0-7][0-9a-hjkmnp-tv-z]{25}$/,
  call: /^call_[0-7][0-9a-hjkmnp-tv-z]{25}$/,
  event: /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/,
} as const;
/** Well-formed ids of missing records. */
export const MISSING_IDS = {
  instance: "inst_01k7zq0f8vf1c9m2x4s6t8w0ya",
  call: "call_01k7zq3n5de7h9k1m3p5r7t9vb",
} as const;

/** Asserts a whole problem document (RFC 9457) and returns it. */
export function expectProblem(response: HttpResponse, status: number, code: string, path?: string): ProblemView {
  expect({ status: response.status, type: response.headers["content-type"], body: response.text }).toMatchObject({
    status,
    type: "application/problem+json",
  });
  const problem = response.json<ProblemView>();
  const members = ["type", "title", "status", "detail", "instance", "code", "request_id"];
  if (status === 400) members.push("errors");
  if (status === 413 || code === "daily_call_limit") members.push("limit");
  expect(keysOf(problem)).toEqual(sorted(members));
  expect(problem).toMatchObject({ status, code });
  expect(problem.title).not.toBe("");
  expect(problem.detail).not.toBe("");
  expect(problem.detail).not.toMatch(/node_modules|\.ts\b|\bat \w+ \(|SQLITE|sqlite_|ECONN|Error:/);
  expect(response.headers["x-request-id"]).toBe(problem.request_id);
  if (path !== undefined) expect(problem.instance).toBe(path);
  if (status === 400) {
    expect(problem.errors?.length).toBeGreaterThan(0);
    for (const { parameter, ...fault } of problem.errors ?? []) {
      expect(keysOf(fault)).toEqual(["code", "detail", "pointer"]);
      // A JSON Pointer (RFC 6901); faults in the query have none.
      expect(fault.pointer).toMatch(parameter === undefined ? /^(?:\/.*)?$/s : /^$/);
    }
  }
  if (status === 401) expect(response.headers["www-authenticate"]).toMatch(/^Bearer\b/);
  return problem;
}

/** Locations of the faults, in a canonical order. */
export const pointersOf = ({ errors = [] }: ProblemView): string[] => errors.map(({ pointer }) => pointer).sort();

/** A problem without the parts that identify a record. */
export function withoutIds(response: HttpResponse, id: string): unknown {
  const text = response.text.replaceAll(id, "ID").replace(/"request_id":"[^"]*"/, '"request_id":"R"');
  const headers = { ...response.headers };
  for (const name of ["x-request-id", "ratelimit", "date", "content-length", "keep-alive", "connection"])
    delete headers[name];
  return { status: response.status, headers, text };
}
