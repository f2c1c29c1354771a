import { expect, test } from "vitest";
import type { CallListening } from "../../../src/application/call-audio/listeners/listen-items.ts";
import { ask, requestOf } from "../support/ask.ts";
import { CALL_ID, serve } from "../support/fakes.ts";

const LISTEN_PATH = `/v1/calls/${CALL_ID}/listen`;
const TICKET_PATH = `/v1/calls/${CALL_ID}/stream-ticket`;

/** The interface of a server with a live call. */
function serveLiveCall() {
  let closeCount = 0;
  const listening: CallListening = {
    callId: CALL_ID,
    close: () => void closeCount++,
    async *[Symbol.asyncIterator]() {},
  };
  const { app } = serve({ calls: { listen: async () => listening } });
  return {
    app,
    get closeCount() {
      return closeCount;
    },
  };
}

test("a request without a WebSocket handshake is refused with 426", async () => {
  const scene = serveLiveCall();
  const { status, json, headers } = await ask(scene.app, { path: LISTEN_PATH });
  expect([status, json.code, headers.upgrade]).toEqual([426, "upgrade_required", "websocket"]);
  expect(scene.closeCount).toBe(1);
});

test("a ticket opens one WebSocket of its own kind", async () => {
  const { app } = serveLiveCall();
  const { status, json } = await ask(app, { method: "POST", path: `${TICKET_PATH}?for=listen` });
  expect(status).toBe(201);
  expect(json.url).toMatch(/^ws\S+\/listen\?ticket=/);
  const upgrade = (path: string) => app.upgrade(requestOf({ path: `${path}?ticket=${json.ticket}`, token: null }));
  expect(await upgrade(`/v1/calls/${CALL_ID}/stream`)).toMatchObject({ status: 401 });
  expect(await upgrade(LISTEN_PATH)).toHaveProperty("message");
  expect(await upgrade(LISTEN_PATH)).toMatchObject({ status: 401 });
});

test("a ticket for another purpose is refused", async () => {
  const { status, json } = await ask(serveLiveCall().app, { method: "POST", path: `${TICKET_PATH}?for=fun` });
  expect([status, json.code, json.errors[0].parameter]).toEqual([400, "invalid_request", "for"]);
});
