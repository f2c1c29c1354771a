import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { describe, expect, test } from "vitest";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { until } from "../../support/server-client.ts";
import { toneShare } from "../../support/server-sound.ts";
import { callees, startFarEnd } from "../../support/sip/far-end.ts";
import { withTools } from "../tools.ts";
import { NUMBERS, startBaresip } from "./baresip.ts";
import { openTrunk } from "./caller.ts";
import { makeCertificates } from "./certificates.ts";
import { freePorts } from "./ports.ts";
import { Stage } from "./stage.ts";

describe("a trunk with a fault ends each call with a sentence that names it:", () => {
  const stage = new Stage();

  /** Outcome of a call over it. */
  const attempt = async (trunk: Omit<Trunk, "name">, name: string): Promise<{ cause: string; detail: string }> => {
    const { dial } = await openTrunk(stage, trunk, name);
    try {
      const { events } = await dial();
      const { cause, detail } = await events.next("ended", 15_000);
      expect(events.types).not.toContain("connected");
      return { cause, detail: detail ?? "" };
    } catch (fault) {
      const { release, message } = fault as { release?: string; message: string };
      if (release === undefined) throw fault;
      return { cause: release, detail: message };
    }
  };

  test.concurrent("an unknown host", async () => {
    const { cause, detail } = await attempt({ server: "sip:nowhere.invalid" }, "no-host");
    expect(cause).toBe("unreachable");
    expect(detail).toContain("nowhere.invalid");
  });

  test.concurrent("a port without a listener, over TCP", async () => {
    const port = await freePorts(1);
    const { cause, detail } = await attempt({ server: `sip:127.0.0.1:${port};transport=tcp` }, "no-port");
    expect(cause).toBe("unreachable");
    expect(detail).toContain(String(port));
  });

  test.concurrent("a server without TLS if TLS is required", async () => {
    const server = await listen((socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const { cause, detail } = await attempt({ server: `sips:127.0.0.1:${server.port}` }, "no-tls");
    expect(cause).toBe("unreachable");
    expect(detail).toMatch(/TLS/);
  });

  test.concurrent("a silent server that accepts the connection", { timeout: 60_000 }, async () => {
    const server = await listen(() => {});
    const startedAt = performance.now();
    const { dial } = await openTrunk(stage, { server: `sip:127.0.0.1:${server.port};transport=tcp` }, "mute");
    const { leg, events } = await dial();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
    expect(performance.now() - startedAt).toBeLessThan(45_000);
  });

  test.concurrent("10 MB of header end the connection, not the process", { timeout: 40_000 }, async () => {
    let sentBytes = 0;
    const server = await listen((socket) => {
      socket.once("data", () => {
        socket.write("SIP/2.0 200 OK\r\n");
        const chunk = Buffer.alloc(64 * 1024, "X-Filler: yes\r\n");
        const writeMore = (): void => {
          while (sentBytes < 10 << 20 && !socket.destroyed) {
            sentBytes += chunk.length;
            if (!socket.write(chunk)) {
              socket.once("drain", writeMore);
              return;
            }
          }
        };
        writeMore();
      });
    });
    const { cause, detail } = await attempt({ server: `sip:127.0.0.1:${server.port};transport=tcp` }, "ten-megabytes");
    expect(["unreachable", "rejected_by_network"]).toContain(cause);
    expect(detail).not.toBe("");
    expect(sentBytes).toBeLessThan(8 << 20); // it was cut off; the difference is in kernel buffers
  });

  test.concurrent("no free port for audio", async () => {
    const farEnd = stage.add(await startFarEnd({ callees: { "*": callees.speaks } }), (it) => it.close());
    const port = await freePorts(2);
    const { dial } = await openTrunk(stage, { server: farEnd.uri, rtpPorts: [port, port + 1] }, "no-ports");
    const firstCall = await dial();
    await firstCall.events.next("connected", 5_000);
    const secondEnd = await dial().then(
      async ({ events }) => (await events.next("ended", 5_000)) as { cause: string; detail: string | null },
      (fault: { release: string; message: string }) => ({ cause: fault.release, detail: fault.message }),
    );
    expect(secondEnd.detail).toContain(`${port}`);
    expect(firstCall.events.types).not.toContain("ended");
    await firstCall.leg.hangUp();
    await firstCall.events.over;
    const thirdCall = await dial(); // the port is free again
    await thirdCall.events.next("connected", 5_000);
    await thirdCall.leg.hangUp();
  });

  test.concurrent("audio from behind a NAT is heard despite a private address in the SDP", async () => {
    const calleeBehindNat = { says: { hz: 1000 }, sendFrom: "127.0.0.2", host: "127.0.0.3" };
    const farEnd = stage.add(await startFarEnd({ callees: { "*": calleeBehindNat } }), (it) => it.close());
    const { dial } = await openTrunk(stage, { server: farEnd.uri }, "elsewhere");
    const { leg, events, recorder } = await dial();
    await events.next("connected", 5_000);
    await until(
      () => recorder.frames.length,
      (frames) => frames >= 75,
      5_000,
      "a second and a half of sound",
    );
    const samples = concatPcm(recorder.frames).subarray(leg.sampleRate / 2);
    expect(toneShare({ sampleRate: leg.sampleRate, samples }, 1000)).toBeGreaterThan(0.95);
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
  });

  withTools("with certificates", ["baresip", "openssl", "sox"], () => {
    test.concurrent("an expired certificate", async () => {
      const keys = makeCertificates(stage.folder("expired"), { expired: true });
      const softphone = await startBaresip(stage, keys);
      const server = `sip:127.0.0.1:${softphone.port + 1};transport=tls`;
      const { cause, detail } = await attempt({ server, tls: { ca: keys.ca, servername: "localhost" } }, "expired");
      expect(cause).toBe("unreachable");
      expect(detail).toMatch(/expired/);
    });

    test.concurrent("an untrusted or wrong certificate is refused", async () => {
      const keys = makeCertificates(stage.folder("keys"));
      const softphone = await startBaresip(stage, keys);
      const server = `sip:127.0.0.1:${softphone.port + 1};transport=tls`;
      const untrustedEnd = await attempt({ server, tls: { servername: "localhost" } }, "untrusted");
      expect(untrustedEnd.cause).toBe("unreachable");
      expect(untrustedEnd.detail).toMatch(/tls\.ca/);
      const misnamedEnd = await attempt({ server, tls: { ca: keys.ca, servername: "sip.example.com" } }, "misnamed");
      expect(misnamedEnd.cause).toBe("unreachable");
      expect(misnamedEnd.detail).toMatch(/sip\.example\.com/);
      for (const tls of [{ ca: readFileSync(keys.ca, "utf8"), servername: "localhost" }, { insecure: true }]) {
        const { dial } = await openTrunk(stage, { server, tls, srtp: "off" }, `trusted-${"ca" in tls}`);
        const { leg, events } = await dial(NUMBERS.pcmu);
        await events.next("connected", 8_000);
        await leg.hangUp();
        await new Promise((resolve) => setTimeout(resolve, 1_100)); // recordings are named by the second
      }
    });
  });

  async function listen(
    onConnection: (socket: import("node:net").Socket) => void,
  ): Promise<{ readonly port: number; readonly server: Server }> {
    const sockets = new Set<import("node:net").Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      onConnection(socket);
    });
    const port = await freePorts(1);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    stage.add(server, () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { port, server };
  }
});
