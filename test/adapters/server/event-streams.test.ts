import { connect, type Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import type { Listening } from "../../../adapters/server/listening.ts";
import type { EventPage, QueryUseCases } from "../../../src/application/use-cases.ts";
import { event, eventPage, INSTANCE_ID, serve, TOKEN } from "../../http/support/fakes.ts";
import { serveHere } from "./this-runtime.ts";

/** Maximum number of streams per user. */
const MAX_STREAMS = 100;
/** Number of streams without a reader. */
const STALLED_STREAMS = 2;
/** A page of an endless log, about 1 MB. */
const FULL_PAGE: EventPage = eventPage({
  events: Array.from({ length: 100 }, () => event({ type: "instance.created", data: { name: "x".repeat(10_000) } })),
  cursors: Array<string>(100).fill(eventPage().cursor),
  more: true,
});
const EMPTY_PAGE: EventPage = eventPage({ events: [], cursors: [] });
/** Heartbeat interval, shorter than the limit for stalled readers, so that quiet streams stay open. */
const HEARTBEAT_MS = 500;

let server: Listening | undefined;
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server?.close();
});

test("an event stream without a reader is cut; quiet streams stay open", async () => {
  let pages = 0;
  let admittedCount = 0;
  const nextEvents: QueryUseCases["nextEvents"] = async (_, { instanceId }) => {
    if (instanceId === undefined) {
      pages++;
      return FULL_PAGE;
    }
    await new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS));
    return EMPTY_PAGE;
  };
  const authenticate = async (token: string) => {
    admittedCount++;
    return token === TOKEN ? { userId: "usr_anna" } : undefined;
  };
  server = await serveHere(
    { ...serve({ queries: { nextEvents }, http: { authenticate } }).app, publicUrl: "http://calls.example.com" },
    { stallMs: 2_000 },
  );
  const { port } = server;

  const openStream = (path: string, isRead: boolean): void => {
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: text/event-stream\r\n\r\n`;
    const socket = connect(port, "127.0.0.1", () => socket.write(head));
    socket.on("error", () => {});
    if (isRead) socket.resume();
    else socket.pause();
    sockets.push(socket);
  };
  const quietPath = `/v1/events?instance_id=${INSTANCE_ID}`;
  for (let n = 0; n < MAX_STREAMS; n++)
    openStream(n < STALLED_STREAMS ? "/v1/events" : quietPath, n >= STALLED_STREAMS);
  await expect.poll(() => admittedCount, { timeout: 10_000 }).toBe(MAX_STREAMS);

  /** Opens another stream and returns its status; the stream stays open if it was admitted. */
  const openAnotherStream = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${TOKEN}`, accept: "text/event-stream" };
    return (await fetch(`http://127.0.0.1:${port}${quietPath}`, { headers })).status;
  };
  expect(await openAnotherStream()).toBe(503);
  for (let n = 0; n < STALLED_STREAMS; n++)
    await expect.poll(openAnotherStream, { timeout: 15_000, interval: 200 }).toBe(200);
  expect(await openAnotherStream()).toBe(503);
  // Most of the output is in kernel buffers.
  expect(pages / STALLED_STREAMS).toBeLessThan(12);
}, 45_000);
