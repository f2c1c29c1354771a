import { beforeAll, expect, test } from "vitest";
import { whatsappBusiness } from "../../../adapters/telephony/sip/index.ts";
import { until } from "../../support/server-client.ts";
import { withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { type DirectCall, openLine, openTrunk } from "./caller.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { KAMAILIO, startKamailio } from "./kamailio.ts";
import { freePorts } from "./ports.ts";
import { toneIn } from "./sound.ts";
import { Stage } from "./stage.ts";

const { domain, user, password } = KAMAILIO;

withTools("a proxy", ["baresip", "kamailio", "openssl", "sox"], () => {
  const stage = new Stage();
  let keys: Certificates;
  beforeAll(() => {
    keys = makeCertificates(stage.folder("keys"));
  });
  const startProxy = async (
    expires?: number,
  ): Promise<{ softphone: Baresip; proxy: Awaited<ReturnType<typeof startKamailio>> }> => {
    const softphone = await startBaresip(stage, keys);
    const routes = { "+12025550": softphone.port };
    const options = { algorithm: "SHA-256", keys, routes, ...(expires ? { expires } : {}) } as const;
    return { softphone, proxy: await startKamailio(stage, options) };
  };
  const TRANSPORTS = {
    UDP: (port: number) => ({ server: `sip:127.0.0.1:${port}` }),
    TCP: (port: number) => ({ server: `sip:127.0.0.1:${port};transport=tcp` }),
    TLS: (port: number) => ({
      server: `sip:127.0.0.1:${port + 1};transport=tls`,
      tls: { ca: keys.ca, servername: "localhost" },
      srtp: "off" as const,
    }),
  };

  for (const transport of ["UDP", "TCP", "TLS"] as const)
    test.concurrent(`that restarts during a call over ${transport} neither ends it nor keeps it alive`, {
      timeout: 40_000,
    }, async () => {
      const { softphone, proxy } = await startProxy(8);
      const account = { domain, user, password, register: true };
      const { dial, host, line } = await openTrunk(
        stage,
        { ...TRANSPORTS[transport](proxy.port), ...account },
        `restart-${transport.toLowerCase()}`,
      );
      expect(await line.probe()).toEqual({ state: "online" });
      const { leg, events, recorder } = await dial(NUMBERS.pcmu);
      await events.next("connected", 8_000);
      const reportsBefore = host.reports.all.length;
      await proxy.restart();
      const framesBefore = recorder.frames.length;
      await until(
        () => recorder.frames.length - framesBefore,
        (newFrames) => newFrames > 50,
        5_000,
        "a second of sound after the restart",
      );
      await leg.hangUp();
      await events.over;
      expect(events.cause).toBe("released");
      await softphone.event("CALL_CLOSED", 5_000);
      // The registration returns without help, at the latest with the next refresh.
      await proxy.child.waitForOutput(/registered agent/, 20_000);
      await until(
        () => line.probe(),
        ({ state }) => state === "online",
        20_000,
        "the registration",
      );
      const reportTypes = host.reports.all.slice(reportsBefore).map(({ type }) => type);
      expect(reportTypes.filter((type) => type !== "offline" && type !== "online")).toEqual([]);
      const secondCall = await dial(NUMBERS.pcmu);
      await secondCall.events.next("connected", 8_000);
      await secondCall.leg.hangUp();
    });

  for (const transport of ["UDP", "TCP", "TLS"] as const)
    test.concurrent(`reports over ${transport} that the callee has hung up`, async () => {
      const { softphone, proxy } = await startProxy();
      const { dial } = await openTrunk(
        stage,
        { ...TRANSPORTS[transport](proxy.port), domain, user, password },
        `bye-${transport.toLowerCase()}`,
      );
      await expectHangUp(await dial(NUMBERS.pcmu), softphone);
    });

  test.concurrent("that opens a connection for BYE is accepted", async () => {
    const { softphone, proxy } = await startProxy();
    const port = await freePorts(1);
    const listen = { transport: "tcp", port, address: "127.0.0.1" } as const;
    const contact = `sip:agent@127.0.0.1:${port};transport=tcp`;
    const trunk = { ...TRANSPORTS.TCP(proxy.port), domain, user, password, contact, listen };
    const { dial } = await openTrunk(stage, trunk, "listens");
    await expectHangUp(await dial(NUMBERS.pcmu), softphone);
  });

  test.concurrent("that behaves like WhatsApp carries the preset's calls", async () => {
    const { softphone, proxy } = await startProxy();
    const port = await freePorts(1);
    const preset = whatsappBusiness({
      ...{ phoneNumber: "+12025550177", hostname: "127.0.0.1", password, port, users: "*", probe: "none" },
      ...{ certificate: keys.certificate, key: keys.key, tls: { ca: keys.ca, servername: "localhost" } },
      outboundProxy: `sip:127.0.0.1:${proxy.port + 1};transport=tls`,
    });
    const { dial } = await openTrunk(stage, preset, "whatsapp");
    const call = await dial(NUMBERS.sdesOpus);
    await expectHangUp(call, softphone, NUMBERS.sdesOpus);
    expect(call.leg.statistics?.()?.codec).toBe("opus");
  });

  /** Waits for half a second of the callee's tone, makes the callee hang up, and checks that we get the BYE. */
  async function expectHangUp(
    { leg, events, recorder }: DirectCall,
    softphone: Baresip,
    number = NUMBERS.pcmu as string,
  ): Promise<void> {
    await events.next("connected", 8_000);
    await toneIn(recorder, leg.sampleRate, 1000, 500);
    softphone.command("uafind", `sip:${number}@127.0.0.1:${softphone.port}`);
    softphone.command("hangup");
    const { cause } = await events.next("ended", 5_000);
    expect(cause).toBe("callee_hung_up");
  }

  test.concurrent("that has failed makes the callee unreachable, and is used again later", {
    timeout: 60_000,
  }, async () => {
    const { proxy } = await startProxy();
    const trunk = { ...TRANSPORTS.TCP(proxy.port), domain, user, password, register: true };
    const { dial, line } = await openTrunk(stage, trunk, "gone");
    await proxy.child.kill("SIGTERM");
    const cause = await dial(NUMBERS.pcmu).then(
      async ({ events }) => (await events.next("ended", 10_000)).cause,
      (fault: { readonly release?: string }) => fault.release,
    );
    expect(["unreachable", "line_lost"]).toContain(cause);
    await proxy.restart();
    await until(
      () => line.probe(),
      ({ state }) => state === "online",
      30_000,
      "the line to be online again",
    );
    const { leg, events } = await dial(NUMBERS.pcmu);
    await events.next("connected", 8_000);
    await leg.hangUp();
  });

  test.concurrent("that refuses our password takes the line offline with the reason", async () => {
    const { proxy } = await startProxy();
    const trunk = { ...TRANSPORTS.UDP(proxy.port), domain, user, password: "wrong", register: true };
    const { host } = await openLine(stage, trunk, "wrong");
    const { reason } = await host.reports.next("offline", 5_000);
    expect(reason).toMatch(/401|403/);
    expect(reason).toMatch(/password/);
  });
});
