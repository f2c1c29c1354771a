import { afterEach, describe, expect, test } from "vitest";
import { callees, type FarEnd, type Script, startFarEnd } from "../../../support/sip/far-end.ts";
import type { Challenge } from "../../../support/sip/gate.ts";
import { field, methodOf, type SipText } from "../../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const [FIRST, SECOND] = ["+12025550101", "+12025550102"];
const ACCOUNT = { user: "100", password: "s3cret" };
const challengingCallee = (challenge: Partial<Challenge> = {}): Script =>
  callees.challenges({ ...ACCOUNT, ...challenge });
const foreignServers: FarEnd[] = [];

afterEach(async () => {
  for (const server of foreignServers.splice(0)) await server.close();
});

async function startForeignServer(script: Script = {}): Promise<FarEnd> {
  const server = await startFarEnd({ callees: { "*": script } });
  foreignServers.push(server);
  return server;
}

const credentials = (request: SipText): string =>
  field(request, "Authorization") + field(request, "Proxy-Authorization");
const requestsOf = ({ requests }: Pick<FarEnd, "requests">, method: string): SipText[] =>
  requests.filter((request) => methodOf(request) === method);

/** Places a call, waits for the answer and hangs up. */
async function completeCall(scene: Scene, number: string): Promise<void> {
  const { leg, events } = await scene.call(number);
  await events.next("connected", 5_000);
  await leg.hangUp();
}

describe("the trunk's password", () => {
  test("is not sent to a redirection's target that has the trunk's realm", async () => {
    const foreignServer = await startForeignServer(challengingCallee());
    const redirection = callees.redirects(`sip:${FIRST}@127.0.0.1:${foreignServer.port}`);
    const scene = await Scene.open(
      { ...ACCOUNT, followRedirects: true },
      { callees: { "*": { ...challengingCallee(), ...redirection } } },
    );
    const [cause, detail] = await scene.endOf(FIRST);
    expect(cause).toBe("rejected_by_network");
    expect(detail).toMatch(/^SIP 401 .*the password is for the trunk's servers, not for 127\.0\.0\.1 port \d+/);
    expect(requestsOf(scene.farEnd, "INVITE").map((invite) => credentials(invite) !== "")).toEqual([false, true]);
    expect(requestsOf(foreignServer, "INVITE").map(credentials)).toEqual([""]);
  });

  test("is not sent to a callee that receives the call's requests", async () => {
    const foreignServer = await startForeignServer();
    const route = ["Record-Route", `<sip:127.0.0.1:${foreignServer.port};lr>`] as const;
    const scene = await Scene.open(ACCOUNT, { callees: { "*": { ...challengingCallee(), allFields: [route] } } });
    await completeCall(scene, FIRST);
    expect(credentials(requestsOf(scene.farEnd, "INVITE")[1]!)).not.toBe("");
    expect(requestsOf(foreignServer, "ACK").map(credentials)).toContain("");
    expect(requestsOf(foreignServer, "BYE").map(credentials)).toEqual([""]);
    expect(foreignServer.requests.map(credentials).join("")).toBe("");
  });

  test("is used in ACK and BYE to the trunk's own server", async () => {
    const scene = await Scene.open(ACCOUNT, { callees: { "*": challengingCallee() } });
    await completeCall(scene, FIRST);
    for (const method of ["ACK", "BYE"])
      expect(credentials(requestsOf(scene.farEnd, method).at(-1)!), method).toContain('realm="far.end"');
  });

  test("for a registration is not used in calls", async () => {
    const scene = await Scene.open({ ...ACCOUNT, register: true }, { callees: {}, registrar: { challenge: ACCOUNT } });
    await scene.endOf(FIRST);
    expect(requestsOf(scene.farEnd, "REGISTER").map(credentials).join()).toContain('realm="far.end"');
    expect(requestsOf(scene.farEnd, "INVITE").map(credentials)).toEqual([""]);
  });

  test("is used only for the trunk's first realms", async () => {
    const scene = await Scene.open(ACCOUNT, {
      callees: { [FIRST]: challengingCallee(), [SECOND]: challengingCallee({ realm: "evil" }) },
    });
    await completeCall(scene, FIRST);
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
        callees: { [FIRST]: { rings: [], status: 503 }, [SECOND]: challengingCallee({ realm: "proxy", status: 407 }) },
        registrar: { challenge: ACCOUNT },
      },
    );
    expect((await scene.endOf(FIRST))[0]).toBe("unreachable");
    await completeCall(scene, SECOND);
    expect(credentials(requestsOf(scene.farEnd, "INVITE").at(-1)!)).toContain('realm="proxy"');
  });

  test("is used only for the configured realms", async () => {
    const realms = ["far.end", "second"];
    const scene = await Scene.open(
      { ...ACCOUNT, realms },
      { callees: { [FIRST]: challengingCallee({ realm: "evil" }), [SECOND]: challengingCallee({ realm: "second" }) } },
    );
    expect(await scene.endOf(FIRST)).toEqual(["rejected_by_network", expect.stringContaining('"evil"')]);
    await completeCall(scene, SECOND);
    expect(scene.farEnd.requests.map(credentials).join()).not.toContain("evil");
  });

  test("is not sent with weaker algorithms than before", async () => {
    const scene = await Scene.open(ACCOUNT, {
      callees: {
        [FIRST]: challengingCallee({ algorithms: ["MD5", "SHA-256"] }),
        [SECOND]: challengingCallee({ algorithms: ["MD5"], status: 407 }),
      },
    });
    await completeCall(scene, FIRST);
    expect(await scene.endOf(SECOND)).toEqual([
      "rejected_by_network",
      expect.stringContaining('the realm "far.end" has used SHA-256 before; a challenge with MD5 is not answered'),
    ]);
    expect(scene.farEnd.requests.map(credentials).join()).not.toContain("MD5");
  });
});
