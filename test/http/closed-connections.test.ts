import { describe, expect, test } from "vitest";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { requestOf, type TestRequest } from "./support/ask.ts";
import { CALL_ID, INSTANCE_ID, type Parts, serve, TOKEN } from "./support/fakes.ts";

const PREFER = { prefer: "wait=60" };
const STREAM = { accept: "text/event-stream" };

/** Every waiting operation, by its use case. */
const WAITING_OPERATIONS: Readonly<Record<string, TestRequest>> = {
  "calls.wait": { path: `/v1/calls/${CALL_ID}`, headers: PREFER },
  "calls.timeline": { path: `/v1/calls/${CALL_ID}/events`, headers: PREFER },
  "calls.create": { method: "POST", path: "/v1/calls", body: "{}" },
  "queries.nextEvents": { path: "/v1/events", headers: PREFER },
  "queries.voiceSample": { path: "/v1/voices/en-US-1/sample.wav" },
  "instances.configure": { path: `/v1/instances/${INSTANCE_ID}/configure` },
  "instances.pairingCode": { method: "POST", path: `/v1/instances/${INSTANCE_ID}/pairing-code`, body: "{}" },
  "instances.linkPage": { path: "/link-page/x" },
};

/** A use case that waits until the signal among its arguments is aborted. */
const untilAborted =
  (onBegin: () => void) =>
  (...args: unknown[]): Promise<never> =>
    new Promise((_, reject) => {
      const options = args.find(
        (arg): arg is { signal: AbortSignal } => arg !== null && typeof arg === "object" && "signal" in arg,
      );
      options?.signal.addEventListener("abort", () => reject(options.signal.reason));
      onBegin();
    });

describe.each(Object.entries(WAITING_OPERATIONS))("%s", (useCase, request) => {
  test("ends with the client's connection, without a fault in the log", async () => {
    const [group = "", method = ""] = useCase.split(".");
    const connection = new AbortController();
    let hasBegun = false;
    const waitingUseCase = untilAborted(() => {
      hasBegun = true;
    });
    const { app, logLines } = serve({ [group]: { [method]: waitingUseCase } } as Parts);
    const reply = app.handle(requestOf({ ...request, signal: connection.signal }));
    await expect.poll(() => hasBegun).toBe(true);
    connection.abort();
    await reply;
    expect(logLines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });
});

test("a fetch request's own signal ends its wait and frees its event stream's place", async () => {
  const { app } = serve({
    http: { system: new ManualSystem() },
    queries: {
      nextEvents: (_, __, { signal }) => new Promise((_, reject) => signal?.addEventListener("abort", reject)),
    },
  });
  const headers = { authorization: `Bearer ${TOKEN}`, ...STREAM };
  const connection = new AbortController();
  const open = (signal?: AbortSignal) =>
    app.fetch(new Request("http://x/v1/events", { headers, signal: signal ?? null }));
  for (let n = 0; n < 100; n++) expect((await open(connection.signal)).status).toBe(200);
  expect((await open()).status).toBe(503);
  connection.abort();
  expect((await open()).status).toBe(200);
});

test("reading a body stops once its connection closes", async () => {
  const connection = new AbortController();
  let isReading = false;
  const { app } = serve();
  const body = {
    [Symbol.asyncIterator]: () => ({
      next(): Promise<IteratorResult<Uint8Array>> {
        isReading = true;
        return new Promise(() => {});
      },
    }),
  };
  const reply = app.handle(requestOf({ method: "POST", path: "/v1/calls", body, signal: connection.signal }));
  await expect.poll(() => isReading).toBe(true);
  connection.abort();
  expect((await reply).status).toBe(400);
});
