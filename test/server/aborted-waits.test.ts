import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";

/** Number of one user's requests that wait at a time. */
const MAX_WAITS = 100;
const WAIT_COUNT = 130;

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target);
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => void socket.destroy()));

  /** Sends a request on a new connection; returns the status once the response head has arrived. */
  function sendRequest(path: string, headers: Readonly<Record<string, string>>): Promise<number> {
    const { hostname, port } = new URL(server.base);
    const lines = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), hostname, () => socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`));
    sockets.push(socket);
    socket.on("error", () => {});
    return new Promise((resolve) => {
      socket.once("data", (data) => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString())?.[1])));
    });
  }

  test("an ended connection makes room for other waits and streams", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const call = await client.call(id); // the instance is not linked: the call stays QUEUED
    const authorization = `Bearer ${client.token}`;
    const { headers } = expected(200, await client.get("/v1/events?limit=200"));
    const cursorAtEnd = `cursor=${headers["next-cursor"]}`;
    const paths = [`/v1/events?${cursorAtEnd}`, `/v1/calls/${call.id}`, `/v1/calls/${call.id}/events?${cursorAtEnd}`];

    let answeredCount = 0;
    for (let n = 0; n < WAIT_COUNT; n++)
      void sendRequest(paths[n % paths.length]!, { authorization, prefer: "wait=60" }).then(() => answeredCount++);
    // Requests beyond the available slots get an immediate response: the others wait.
    await expect.poll(() => answeredCount).toBe(WAIT_COUNT - MAX_WAITS);
    for (const socket of sockets.splice(0)) socket.destroy();

    for (const path of paths) {
      const appliedPreference = async () => {
        const { headers } = await client.get(path, { prefer: "wait=1" });
        return headers["preference-applied"];
      };
      await expect.poll(appliedPreference).toBe("wait=1");
    }
    const stream = { authorization, accept: "text/event-stream" };
    const statuses = await Promise.all(
      Array.from({ length: MAX_WAITS }, () => sendRequest(`/v1/events?${cursorAtEnd}`, stream)),
    );
    expect(statuses).toEqual(Array(MAX_WAITS).fill(200));

    // The same slots are free again as soon as the readers of the streams have disconnected.
    for (const socket of sockets.splice(0)) socket.destroy();
    const openNext = async () => {
      const status = await sendRequest(`/v1/events?${cursorAtEnd}`, stream);
      for (const socket of sockets.splice(0)) socket.destroy();
      return status;
    };
    await expect.poll(openNext).toBe(200);
  });
});
