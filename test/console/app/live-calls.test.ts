import { signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CallSource, LiveCallList } from "../../../adapters/console/app/pages/calls/live-calls.ts";
import { idSource } from "../../../src/base/ids.ts";
import type { Call, CallEvent } from "../../../src/client/index.ts";

const START = Date.parse("2026-11-27T10:00:00.000Z");
const at = (second: number): string => new Date(START + second * 1_000).toISOString();
const idAt = (second: number): string =>
  idSource(
    () => START + second * 1_000,
    (bytes) => bytes.fill(7),
  )("call");

function call(second: number, fields: Partial<Call> = {}): Call {
  const common = { instance_id: "inst_1", type: "FIXED_TTS", status: "QUEUED", target_phone: "+12025550100" } as const;
  const times = { created_at: at(second), started_at: null, ended_at: null };
  return { id: idAt(second), ...common, ...times, outcome: null, reference: null, ...fields };
}

function event(type: CallEvent["type"], second: number): CallEvent {
  const common = { id: `evt_${type}${second}`, timestamp: at(second), instance_id: "inst_1", data: {} };
  return { ...common, type, call_id: idAt(second) } as unknown as CallEvent;
}

/** A server with these calls, newest first, and the requests that it has received. */
class Server implements CallSource {
  readonly streamStarts = signal(1);
  readonly requests: { limit: number | undefined; cursor: string | undefined }[] = [];
  calls: Call[];
  fault: Error | undefined;
  #listener: (events: readonly CallEvent[]) => void = () => {};

  constructor(...calls: Call[]) {
    this.calls = calls;
  }

  readonly page: CallSource["page"] = async (query) => {
    const { limit = 50, cursor } = query ?? {};
    this.requests.push({ limit, cursor });
    if (this.fault) throw this.fault;
    const from = Number(cursor ?? 0);
    const items = this.calls.slice(from, from + limit);
    const next = from + limit < this.calls.length ? String(from + limit) : undefined;
    return { items: items as never[], next };
  };

  onEvents(listener: (events: readonly CallEvent[]) => void): () => void {
    this.#listener = listener;
    return () => {
      this.#listener = () => {};
    };
  }

  emit(...events: CallEvent[]): void {
    this.#listener(events);
  }
}

const callsOf = (count: number): Call[] => Array.from({ length: count }, (_, index) => call(1_000 - index));
const settle = (ms = 1_000): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const statuses = (list: LiveCallList): string[] => list.rows.value.map(({ status }) => status);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a live list of calls", () => {
  it("reads page after page until the last one", async () => {
    const server = new Server(...callsOf(250));
    const list = new LiveCallList({}, server);
    list.start();
    expect(list.isLoaded.value).toBe(false);
    await settle();
    expect([list.rows.value.length, list.isComplete.value, list.isLoaded.value]).toEqual([100, false, true]);
    await list.loadMore();
    await Promise.all([list.loadMore(), list.loadMore()]);
    await list.loadMore();
    expect([list.rows.value.length, list.isComplete.value]).toEqual([250, true]);
    expect(server.requests.map(({ cursor }) => cursor)).toEqual([undefined, "100", "200"]);
  });

  it("follows its calls, drawn once per batch", async () => {
    const server = new Server(call(2), call(1));
    const list = new LiveCallList({}, server);
    list.start();
    await settle();
    const onDraw = vi.fn();
    list.rows.subscribe(onDraw);
    for (const second of [1, 2]) server.emit(event("ringing", second), event("answered", second));
    expect(statuses(list)).toEqual(["QUEUED", "QUEUED"]);
    await settle();
    expect(statuses(list)).toEqual(["IN_PROGRESS", "IN_PROGRESS"]);
    expect(onDraw).toHaveBeenCalledTimes(2);
    expect(server.requests).toHaveLength(1);
  });

  it("reads new calls together", async () => {
    const server = new Server(...callsOf(30));
    const list = new LiveCallList({}, server);
    list.start();
    await settle();
    server.calls = [call(2_002), call(2_001), ...server.calls];
    server.emit(event("queued", 2_001));
    server.emit(event("queued", 2_002));
    await settle();
    expect(list.rows.value.slice(0, 2).map(({ id }) => id)).toEqual([idAt(2_002), idAt(2_001)]);
    expect(server.requests).toHaveLength(2);
  });

  it("reads a new call on a later page, and no further than its time", async () => {
    const server = new Server();
    const list = new LiveCallList({ statuses: ["RINGING"] }, server);
    list.start();
    await settle();
    server.calls = callsOf(500)
      .map((earlierCall): Call => ({ ...earlierCall, status: "RINGING" }))
      .filter(({ id }) => id !== idAt(990));
    server.emit(event("ringing", 700));
    await settle();
    expect(list.rows.value.some(({ id }) => id === idAt(700))).toBe(true);
    expect(server.requests.slice(1).map(({ limit }) => limit)).toEqual([12, 200, 200]);
    server.emit(event("ringing", 990));
    await settle();
    expect(server.requests).toHaveLength(5);
  });

  it("starts over when events may have been missed", async () => {
    const server = new Server(call(1));
    const list = new LiveCallList({}, server);
    list.start();
    await settle();
    server.calls = [call(5), call(1, { status: "FAILED" })];
    server.streamStarts.value++;
    await settle();
    expect(statuses(list)).toEqual(["QUEUED", "FAILED"]);
  });

  it("keeps its rows when a page cannot be read, and reads it at the next attempt", async () => {
    const server = new Server(...callsOf(150));
    const list = new LiveCallList({}, server);
    list.start();
    await settle();
    server.fault = new Error("away");
    await list.loadMore();
    expect([list.fault.value, list.rows.value.length]).toEqual([server.fault, 100]);
    server.fault = undefined;
    await list.loadMore();
    expect([list.fault.value, list.rows.value.length]).toEqual([undefined, 150]);
  });

  it("sends no requests after its end", async () => {
    const server = new Server(call(1));
    const list = new LiveCallList({}, server);
    const stop = list.start();
    await settle();
    server.emit(event("queued", 5));
    stop();
    server.streamStarts.value++;
    server.emit(event("queued", 6));
    await settle();
    expect(server.requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
