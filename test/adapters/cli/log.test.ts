import { expect, test } from "vitest";
import { createLog, type LogLevel } from "../../../adapters/cli/serve/log.ts";

function capturedLog(level: LogLevel, pretty: boolean) {
  const lines: string[] = [];
  return { lines, log: createLog({ level, pretty, write: (line) => lines.push(line), now: () => 0 }) };
}

test("a line is a JSON object, including errors and their causes", () => {
  const { lines, log } = capturedLog("info", false);
  log.info({ call_id: "call_1", ms: 2, none: undefined, big: 3n }, "call answered");
  log.error({ err: new TypeError("outer", { cause: new Error("inner") }) }, "it broke");
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    time: "1970-01-01T00:00:00.000Z",
    level: "info",
    msg: "call answered",
    call_id: "call_1",
    ms: 2,
    big: "3",
  });
  const { err } = JSON.parse(lines[1] ?? "") as { err: { stack: string } };
  expect(err).toMatchObject({ type: "TypeError", message: "outer", cause: { type: "Error", message: "inner" } });
  expect(err.stack).toContain("log.test.ts");
});

test("only messages at or above the level are written", () => {
  for (const [level, count] of [
    ["debug", 4],
    ["info", 3],
    ["warn", 2],
    ["error", 1],
    ["silent", 0],
  ] as const) {
    const { lines, log } = capturedLog(level, false);
    for (const name of ["debug", "info", "warn", "error"] as const) log[name]({}, name);
    expect(lines, level).toHaveLength(count);
  }
});

test("tokens are hidden, wherever they occur", () => {
  const token = `rp_live_${"a".repeat(49)}`;
  for (const pretty of [false, true]) {
    const { lines, log } = capturedLog("info", pretty);
    log.info({ path: `/v1/${token}`, err: new Error(token) }, token);
    expect(lines.join()).not.toContain(token);
    expect(lines.join()).toContain("rp_live_[hidden]");
  }
});

test("untrusted text starts no new line and sends no terminal commands", () => {
  const { lines, log } = capturedLog("info", true);
  log.info({ path: "/v1\n00:00 ERROR forged\x1b[2J\x9b2J" }, "request");
  expect(lines[0]).not.toContain("\n");
  expect(lines[0]).not.toContain("\x1b[2J");
  expect(lines[0]).toContain("\\u000a00:00 ERROR forged\\u001b[2J\\u009b2J");
});

test("a circular object can be logged", () => {
  const ring: Record<string, unknown> = {};
  ring.self = ring;
  const { lines, log } = capturedLog("info", false);
  log.info({ ring, bytes: new Uint8Array(3) }, "round");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ ring: { self: "[seen above]" }, bytes: "3 bytes" });
});
