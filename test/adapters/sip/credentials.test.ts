import { afterEach, describe, expect, test } from "vitest";
import { callees, type FarEnd, type Script, startFarEnd } from "../../support/sip/far-end.ts";
import type { Challenge } from "../../support/sip/gate.ts";
import { field, methodOf, type SipText } from "../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const [FIRST, SECOND] = ["+12025550101", "+12025550102"];
const ACCOUNT = { user: "100", password: "s3cret" };
const asks = (challenge: Partial<Challenge> = {}): Script => callees.challenges({ ...ACCOUNT, ...challenge });
const strangers: FarEnd[] = [];

afterEach(async () => {
  for (const stranger of strangers.splice(0)) await stranger.close();
});

async function startStranger(script: Script = {}): Promise<FarEnd> {
  const stranger = await startFarEnd({ callees: { "*": script } });
  strangers.push(stranger);
  return stranger;
}

const credentials = (request: SipText): string =>
  field(request, "Authorization") + field(request, "Proxy-Authorization");
const sent = ({ requests }: Pick<FarEnd, "requests">, method: string): SipText[] =>
  requests.filter((request) => methodOf(request) === method);

/** An answered call that we hang up. */
async function completed(scene: Scene, number: string): Promise<void> {
  const { leg, events } = await scene.call(number);
  await events.next("connected", 5_000);
  await leg.hangUp();
}

describe("the trunk's password", () => {
  test("is not sent to a redirection's server with the trunk's realm", async () => {
    const stranger = await startStranger(asks());
    const moved = callees.redirects(`sip:${FIRST}@127.0.0.1:${stranger.port}`);
    const scene = await Scene.open(
      { ...ACCOUNT, followRedirects: true },
      { callees: { "*": { ...asks(), ...moved } } },
    );
    const [cause, detail] = await scene.endOf(FIRST);
    expect(cause).toBe("rejected_by_network");
    expect(detail).toMatch(/^SIP 401 .*the password is for the trunk's servers, not for 127\.0\.0\.1 port \d+/);
    expect(sent(scene.farEnd, "INVITE").map((invite) => credentials(invite) !== "")).toEqual([false, true]);
    expect(sent(stranger, "INVITE").map(credentials)).toEqual([""]);
  });

  test("is not sent to a callee that receives the call's requests", async () => {
    const stranger = await startStranger();
    const route = ["Record-Route", `<sip:127.0.0.1:${stranger.port};lr>`] as const;
    const scene = await Scene.open(ACCOUNT, { callees: { "*": { ...asks(), allFields: [route] } } });
    await completed(scene, FIRST);
    expect(credentials(sent(scene.farEnd, "INVITE")[1]!)).not.toBe("");
    expect(sent(stranger, "ACK").map(credentials)).toContain("");
    expect(sent(stranger, "BYE").map(credentials)).toEqual([""]);
    expect(stranger.requests.map(credentials).join("")).toBe("");
  });

  test("is used in ACK and BYE to the trunk's own server", async () => {
    const scene = await Scene.open(ACCOUNT, { callees: { "*": asks() } });
    await completed(scene, FIRST);
    for (const method of ["ACK", "BYE"])
      expect(credentials(sent(scene.farEnd, method).at(-1)!), method).toContain('realm="far.end"');
  });

  test("of a registration is not used in calls", async () => {
    const scene = await Scene.open({ ...ACCOUNT, register: true }, { callees: {}, registrar: { challenge: ACCOUNT } });
    await scene.endOf(FIRST);
    expect(sent(scene.farEnd, "REGISTER").map(credentials).join()).toContain('realm="far.end"');
    expect(sent(scene.farEnd, "INVITE").map(credentials)).toEqual([""]);
  });

  test("is for the trunk's first realms only", async () => {
    const scene = await Scene.open(ACCOUNT, { callees: { [FIRST]: asks(), [SECOND]: asks({ realm: "evil" }) } });
    await completed(scene, FIRST);
    expect(await scene.endOf(SECOND)).toEqual([
      "rejected_by_network",
      expect.stringContaining(
        'for the realm "far.end", not for "evil"; if that is the trunk\'s, name both in `realms`',
      ),
    ]);
    expect(scene.farEnd.calls[1]?.count("INVITE")).toBe(1);
    expect(scene.farEnd.requests.map(credentials).join()).not.toContain("evil");
  });

  test("covers a proxy's realm besides the registrar's", async () => {
    const scene = await Scene.open(
      { ...ACCOUNT, register: true },
      {
        callees: { [FIRST]: { rings: [], status: 503 }, [SECOND]: asks({ realm: "proxy", status: 407 }) },
        registrar: { challenge: ACCOUNT },
      },
    );
    expect((await scene.endOf(FIRST))[0]).toBe("unreachable");
    await completed(scene, SECOND);
    expect(credentials(sent(scene.farEnd, "INVITE").at(-1)!)).toContain('realm="proxy"');
  });

  test("is only for the realms of the options", async () => {
    const realms = ["far.end", "second"];
    const scene = await Scene.open(
      { ...ACCOUNT, realms },
      { callees: { [FIRST]: asks({ realm: "evil" }), [SECOND]: asks({ realm: "second" }) } },
    );
    expect(await scene.endOf(FIRST)).toEqual(["rejected_by_network", expect.stringContaining('"evil"')]);
    await completed(scene, SECOND);
    expect(scene.farEnd.requests.map(credentials).join()).not.toContain("evil");
  });

  test("is not sent with weaker algorithms than before", async () => {
    const scene = await Scene.open(ACCOUNT, {
      callees: {
        [FIRST]: asks({ algorithms: ["MD5", "SHA-256"] }),
        [SECOND]: asks({ algorithms: ["MD5"], status: 407 }),
      },
    });
    await completed(scene, FIRST);
    expect(await scene.endOf(SECOND)).toEqual([
      "rejected_by_network",
      expect.stringContaining('the realm "far.end" has used SHA-256 before, and gets no answer with MD5'),
    ]);
    expect(scene.farEnd.requests.map(credentials).join()).not.toContain("MD5");
  });
});
