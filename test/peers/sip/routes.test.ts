import { beforeAll, expect, test } from "vitest";
import { withTools } from "../tools.ts";
import { NUMBERS, startBaresip } from "./baresip.ts";
import { openRoute } from "./caller.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { KAMAILIO, type Kamailio, startKamailio } from "./kamailio.ts";
import { startSipp } from "./sipp.ts";
import { ack, expectInvite, respond } from "./sipp-script.ts";
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
    const steps = [
      expectInvite(),
      respond("100 Trying", { keepsTo: true }),
      respond("503 Full", { repeated: true }),
      ack,
    ];
    const fullTrunk = await startSipp(stage, "full", steps.join(""));
    const softphone = await startBaresip(stage, keys);
    const secondTrunk = { server: `sip:127.0.0.1:${(await proxyTo(softphone.port)).port}`, domain, user, password };
    const { dial } = await openRoute(stage, [{ server: fullTrunk.uri }, secondTrunk], "full");
    const { leg, events, recorder } = await dial(NUMBERS.pcmu);
    await events.next("connected", 8_000);
    await toneIn(recorder, leg.sampleRate, 1_000, 500);
    await fullTrunk.done;
    await leg.hangUp();
    expect(fullTrunk.messages().match(/^INVITE /gm)).toHaveLength(1);
    expect(events.types.filter((type) => type === "placed")).toHaveLength(1);
  });

  test.concurrent("uses the second proxy if one has failed", async () => {
    // A baresip refuses a call within a second of the previous one.
    const softphones = [await startBaresip(stage, keys), await startBaresip(stage, keys)] as const;
    const [firstProxy, secondProxy] = await Promise.all([proxyTo(softphones[0].port), proxyTo(softphones[1].port)]);
    const trunkOf = ({ port }: Kamailio) => ({ server: `sip:127.0.0.1:${port};transport=tcp`, domain, user, password });
    const trunks = [trunkOf(firstProxy), trunkOf(secondProxy)];
    const { dial } = await openRoute(stage, trunks, "gone");
    const firstCall = await dial(NUMBERS.pcmu);
    await firstCall.events.next("connected", 8_000);
    await firstCall.leg.hangUp();
    await firstCall.events.over;
    await firstProxy.child.kill("SIGTERM");
    const { leg, events, recorder } = await dial(NUMBERS.pcmu);
    await events.next("connected", 8_000);
    await toneIn(recorder, leg.sampleRate, 1_000, 500);
    await leg.hangUp();
  });
});
