import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";

const READERS = 20;
const MINUTES = 30;
const SAMPLES = MINUTES * 60 * 16_000;
/** Maximum memory of the process per reader, bytes; the file has 57 million. */
const MAX_READER_BYTES = 12 << 20;

/** Memory of the process, bytes. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target);
  const sockets: Socket[] = [];
  afterAll(() => sockets.forEach((socket) => void socket.destroy()));

  /** Requests a file and reads no part of the response. */
  async function startStalledReader(path: string, token: string): Promise<void> {
    const { hostname, port } = new URL(server.base);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on("error", () => {});
    socket.pause();
    await new Promise((resolve) => socket.write(request(path, token), resolve));
  }

  const request = (path: string, token: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

  /** Path of a call's file in the server's data folder. */
  function fileOf(name: string): string {
    const match = (readdirSync(server.data, { recursive: true }) as string[]).find((path) => path.endsWith(name));
    if (match === undefined) throw new Error(`there is no ${name} in ${server.data}`);
    return join(server.data, match);
  }

  describe("readers that stall", () => {
    test.skipIf(process.platform !== "linux")(
      "each uses little memory, and another reader gets the entire recording",
      async () => {
        const client = await server.as("ada");
        const { id } = await client.activeInstance();
        const call = await client.call(id);
        await client.waitForCall(call.id);
        const path = `/simulator/calls/${call.id}/heard.wav`;
        expected(200, await client.get(path));
        const file = Buffer.concat([wavHeader({ sampleRate: 16_000, samples: SAMPLES }), Buffer.alloc(2 * SAMPLES)]);
        writeFileSync(fileOf(`${call.id}.heard.wav`), file);
        const memoryBefore = memoryOf(server.pid);
        await Promise.all(Array.from({ length: READERS }, () => startStalledReader(path, client.token!)));
        const wholeResponse = await fetch(server.base + path, { headers: { authorization: `Bearer ${client.token}` } });
        expect((await wholeResponse.arrayBuffer()).byteLength).toBe(file.length);
        const bytesPerReader = (memoryOf(server.pid) - memoryBefore) / READERS;
        console.log(`${target.title}: ${Math.round(bytesPerReader / 1024)} KiB of memory for each stalled reader`);
        expect(bytesPerReader).toBeLessThan(MAX_READER_BYTES);
      },
      60_000,
    );
  });
});
