import { beforeAll, expect, test } from "vitest";
import { withTools } from "../tools.ts";
import { NUMBERS, startBaresip } from "./baresip.ts";
import { openRoute } from "./caller.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { KAMAILIO, type Kamailio, startKamailio } from "./kamailio.ts";
import { startSipp } from "./sipp.ts";
import { ack, invited, say } from "./sipp-script.ts";
import { toneIn } from "./sound.ts";
import { Stage } from "./stage.ts";

const { domain, user, password } = KAMAILIO;

withTools("a route", ["baresip", "kamailio", "sipp", "openssl", "sox"], () => {
  const stage = new Stage();
  let keys: Certificates;
  beforeAll(() => {
    keys = makeCertificates(stage.folder("keys"));
  });
  const proxyTo = (port: number): Promise<Kamailio> =>
    startKamailio(stage, { algorithm: "SHA-256", keys, routes: { "+12025550": port } });

  test.concurrent("uses the second trunk if one is full", async () => {
    const steps = [invited(), say("100 Trying", { asItCame: true }), say("503 Full", { repeated: true }), ack];
    const full = await startSipp(stage, "full", steps.join(""));
    const softphone = await startBaresip(stage, keys);
    const second = { server: `sip:127.0.0.1:${(await proxyTo(softphone.port)).port}`, domain, user, password };
    const { dial } = await openRoute(stage, [{ server: full.uri }, second], "full");
    const { leg, events, ear } = await dial(NUMBERS.pcmu);
    await events.next("connected", 8_000);
    await toneIn(ear, leg.sampleRate, 1_000, 500);
    await full.done;
    await leg.hangUp();
    expect(full.messages().match(/^INVITE /gm)).toHaveLength(1);
    expect(events.types.filter((type) => type === "placed")).toHaveLength(1);
  });

  test.concurrent("uses the second proxy if one has failed", async () => {
    // A baresip refuses a call within a second of the previous one.
    const behind = [await startBaresip(stage, keys), await startBaresip(stage, keys)] as const;
    const [first, second] = await Promise.all([proxyTo(behind[0].port), proxyTo(behind[1].port)]);
    const trunkOf = ({ port }: Kamailio) => ({ server: `sip:127.0.0.1:${port};transport=tcp`, domain, user, password });
    const ways = [trunkOf(first), trunkOf(second)];
    const { dial } = await openRoute(stage, ways, "gone");
    const before = await dial(NUMBERS.pcmu);
    await before.events.next("connected", 8_000);
    await before.leg.hangUp();
    await before.events.over;
    await first.child.kill("SIGTERM");
    const { leg, events, ear } = await dial(NUMBERS.pcmu);
    await events.next("connected", 8_000);
    await toneIn(ear, leg.sampleRate, 1_000, 500);
    await leg.hangUp();
  });
});
