import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sip } from "../../../../../adapters/telephony/sip/index.ts";
import type { Logger } from "../../../../../src/ports/logger.ts";
import type { Network } from "../../../../../src/ports/network-pages.ts";
import type { Line } from "../../../../../src/ports/telephony.ts";
import { telephonyContract } from "../../../../../src/testing/telephony-contract.ts";
import { TestLineHost } from "../../../../../src/testing/telephony-host.ts";
import { callees, type FarEnd, startFarEnd } from "../../../../support/sip/far-end.ts";
import { requestPage } from "./enter.ts";

const PASSWORD = "hunter2-ü&<";
const SOON_MS = 5_000;

let farEnd: FarEnd;
let telephony: Network;
let host: TestLineHost;
let line: Line;
/** All log output. */
let logRecords: unknown[] = [];

const record = (...args: unknown[]): void => void logRecords.push(args);
const logger: Logger = { debug: record, info: record, warn: record, error: record };

function network(servers?: readonly string[]): Network {
  const [first] = sip({ trunks: [], accounts: servers ? { servers } : { allowPrivate: true }, logger });
  return first!;
}

async function openLine(accountNetwork: Network, lineHost: TestLineHost, id = "inst_1"): Promise<Line> {
  return accountNetwork.open(
    { id, userId: "usr_1", name: `<b>"Tom & 'Jerry'"</b>` },
    lineHost,
    new AbortController().signal,
  );
}

/** Payload of the latest code. */
async function payload(): Promise<string> {
  await line.link();
  return (await host.reports.next("code", SOON_MS)).code.payload;
}

const fields = (overrides: Readonly<Record<string, string>> = {}) => ({
  server: `127.0.0.1:${farEnd.port}`,
  transport: "udp",
  user: "tom",
  password: PASSWORD,
  register: "on",
  ...overrides,
});

beforeEach(async () => {
  logRecords = [];
  farEnd = await startFarEnd({
    callees: { "+12025550100": callees.answers },
    registrar: { challenge: { user: "tom", password: PASSWORD } },
  });
  telephony = network();
  host = new TestLineHost();
  line = await openLine(telephony, host);
});
afterEach(async () => {
  await telephony.close();
  await farEnd.close();
});

describe("an entered account", () => {
  test("is tested, stored and resumed after a restart without a code", async () => {
    const code = await payload();
    expect(code).toMatch(/^http:\/\/127\.0\.0\.1:8080\/sip\/link\/[0-9a-z]{16}$/);
    const response = await requestPage(telephony, code, fields({ callerId: "+12025550142" }));
    expect([response.status, response.html]).toEqual([200, expect.stringContaining("as +12025550142")]);
    await host.reports.next("online", SOON_MS);
    expect(host.reports.types.filter((type) => type !== "code")).toEqual(["linked", "online"]);
    expect(host.reports.all.find(({ type }) => type === "linked")).toMatchObject({ phone: "+12025550142" });
    expect(farEnd.registrations).toHaveLength(1);
    await line.close();
    expect(farEnd.registrations.at(-1)?.expires).toBe(0); // it unregisters

    const restartedHost = new TestLineHost(host.stored);
    line = await openLine(telephony, restartedHost);
    await restartedHost.reports.next("online", SOON_MS);
    expect(restartedHost.reports.types).not.toContain("code");
    const abort = new AbortController();
    const leg = await line.dial("+12025550100", { callId: "call_1", ringTimeoutMs: 10_000 }, abort.signal);
    const call = await farEnd.call();
    expect(call.requests[0]?.text.start).toContain("sip:+12025550100@127.0.0.1");
    await leg.hangUp();
  });

  test("is not stored if the server refuses it; the page states the reason", async () => {
    const response = await requestPage(telephony, await payload(), fields({ password: "wrong-secret" }));
    expect(response.status).toBe(422);
    expect(response.html).toContain("check “User”, “User for the password” and “Password”");
    expect(response.html).toMatch(/class="fault" role="alert">[^<]*40[13]/);
    expect(response.html).toContain(`value="127.0.0.1:${farEnd.port}"`);
    expect(response.html).not.toContain("wrong-secret");
    expect(host.stored).toBeUndefined();
    expect(host.reports.types).toEqual(["code"]);
    expect((await line.probe()).state).toBe("offline");
  });

  test("is tested with OPTIONS if it does not register", async () => {
    const { register: _, password: __, ...account } = fields();
    farEnd.health = 404; // the account exists
    const response = await requestPage(telephony, await payload(), account);
    expect(response.status).toBe(200);
    expect(farEnd.requests.map(({ start }) => start.split(" ")[0])).toEqual(["OPTIONS"]);
  });

  test("invalidates its code", async () => {
    const code = await payload();
    const responses = await Promise.all([
      requestPage(telephony, code, fields()),
      requestPage(telephony, code, fields()),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 429]);
    expect((await requestPage(telephony, code)).status).toBe(410);
    expect((await requestPage(telephony, code, fields())).status).toBe(410);
    expect(host.reports.types.filter((type) => type === "linked")).toHaveLength(1);
  });

  test("can be entered again after a failed write", async () => {
    const code = await payload();
    const originalLinked = host.linked.bind(host);
    host.linked = async () => {
      throw new Error("the disk is full");
    };
    const response = await requestPage(telephony, code, fields());
    expect([response.status, response.headers["retry-after"]]).toEqual([503, "2"]);
    expect(farEnd.registrations.at(-1)?.expires).toBe(0);
    host.linked = originalLinked;
    expect((await requestPage(telephony, code, fields())).status).toBe(200);
  });

  test("never leaves its password in a log", async () => {
    const code = await payload();
    await requestPage(telephony, code, fields({ server: "no-such-host.invalid" }));
    await requestPage(telephony, code, fields({ user: "jerry" }));
    await requestPage(telephony, code, fields());
    await host.reports.next("online", SOON_MS);
    expect(JSON.stringify(logRecords)).not.toContain("hunter2");
  });
});

describe("the account page", () => {
  test("has no script, loads no resources and escapes names", async () => {
    const response = await requestPage(telephony, await payload());
    expect(response.status).toBe(200);
    expect(response.headers["content-security-policy"]).toMatch(/default-src 'none'.*form-action 'self'/);
    expect(response.headers["cache-control"]).toBe("no-store");
    expect(response.html).not.toMatch(/<script|<b>/);
    expect(response.html).toContain("&#60;b&#62;");
  });

  test("marks each wrong field and keeps the input, except the password", async () => {
    const input = {
      server: "sip.example.com:port",
      user: "",
      password: PASSWORD,
      domain: "exa mple",
      callerId: '"><i>',
    };
    const response = await requestPage(telephony, await payload(), fields(input));
    expect(response.status).toBe(422);
    expect(response.html).toContain('aria-describedby="user-fault"');
    expect(response.html).toContain("&#34;&#62;&#60;i&#62;");
    expect(response.html).not.toContain("hunter2");
    expect(response.html).not.toContain("<i>");
    const server = await requestPage(telephony, await payload(), fields({ server: "sip.example.com:port" }));
    expect(server.html).toMatch(/id="server-fault">must be a host name/);
    expect(farEnd.requests).toEqual([]);
  });

  test("accepts a pasted SIP address", async () => {
    expect((await requestPage(telephony, await payload(), fields({ server: farEnd.uri }))).status).toBe(200);
  });

  test("returns 404 for unknown codes, 413 for long forms, 405 for other methods", async () => {
    const code = await payload();
    expect((await requestPage(telephony, "/sip/link/0000000000000000")).status).toBe(404);
    expect((await requestPage(telephony, code, "a".repeat(2_000_000))).status).toBe(413);
    const putResponse = await telephony.pages?.page(code.slice(code.indexOf("/link")), {
      method: "PUT",
      url: code,
      headers: { get: () => null },
      body: null,
    });
    expect(putResponse?.status).toBe(405);
    expect(
      await telephony.pages?.page("/other", { method: "GET", url: code, headers: { get: () => null }, body: null }),
    ).toBeUndefined();
  });

  test("allows a user five failed attempts a minute, whatever their instances and accounts", async () => {
    const otherHost = new TestLineHost();
    const otherLine = await openLine(telephony, otherHost, "inst_2");
    await otherLine.link();
    const codes = [await payload(), (await otherHost.reports.next("code", SOON_MS)).code.payload];
    for (let tries = 0; tries < 5; tries++) {
      const form = fields({ user: `tom${tries}`, password: "wrong" });
      expect((await requestPage(telephony, codes[tries % 2] ?? "", form)).status).toBe(422);
    }
    for (const code of codes) expect((await requestPage(telephony, code, fields())).status).toBe(429);
    expect([host.stored, otherHost.stored]).toEqual([undefined, undefined]);
  });

  test("allows five failed attempts a minute for one account, from all clients together", async () => {
    const enter = async (userId: string, form: Readonly<Record<string, string>>): Promise<number> => {
      const userHost = new TestLineHost();
      const userLine = await telephony.open(
        { id: `inst_${userId}`, userId, name: userId },
        userHost,
        new AbortController().signal,
      );
      await userLine.link();
      const { code } = await userHost.reports.next("code", SOON_MS);
      return (await requestPage(telephony, code.payload, fields(form))).status;
    };
    for (let tries = 0; tries < 5; tries++) {
      // An added authentication user or different letter case still means the same account.
      const form = [{}, { user: "TOM" }, { user: "any", authUser: "tom" }][tries % 3] ?? {};
      expect(await enter(`usr_${tries}`, { ...form, password: "wrong" })).toBe(422);
    }
    expect(await enter("usr_6", {})).toBe(429);
    expect(await enter("usr_7", { user: "tim", password: "wrong" })).toBe(422);
  });

  test("does not count attempts with the right password", async () => {
    for (let round = 0; round < 7; round++) {
      const roundHost = new TestLineHost();
      const roundLine = await openLine(telephony, roundHost, `inst_${round}0`);
      await roundLine.link();
      const { code } = await roundHost.reports.next("code", SOON_MS);
      expect((await requestPage(telephony, code.payload, fields())).status).toBe(200);
    }
  });

  test("allows five failed attempts a minute with one code", async () => {
    const code = await payload();
    for (let tries = 0; tries < 5; tries++)
      expect((await requestPage(telephony, code, fields({ password: `guess ${tries}` }))).status).toBe(422);
    const limitedResponse = await requestPage(telephony, code, fields());
    expect(limitedResponse.status).toBe(429);
    expect(Number(limitedResponse.headers["retry-after"])).toBeGreaterThan(30);
    expect(host.stored).toBeUndefined();
  });
});

describe("the servers that accounts may use", () => {
  test("can be entered; others are refused without requests", async () => {
    telephony = network(["*.acme.example", "127.0.0.1"]);
    line = await openLine(telephony, host);
    const code = await payload();
    for (const server of ["acme.example", "127.0.0.2", "127.0.0.1.evil.example", "[::1]"]) {
      const response = await requestPage(telephony, code, fields({ server }));
      expect([server, response.status]).toEqual([server, 422]);
      expect(response.html).toContain("*.acme.example, 127.0.0.1");
    }
    expect((await requestPage(telephony, code, fields())).status).toBe(200);
  });

  test("keep a line offline, with its account stored, once they are no longer listed", async () => {
    await requestPage(telephony, await payload(), fields());
    const restartedHost = new TestLineHost(host.stored);
    const restrictedNetwork = network(["sip.acme.example"]);
    const restrictedLine = await openLine(restrictedNetwork, restartedHost);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await restrictedLine.probe()).toEqual({
      state: "offline",
      lasting: true,
      reason: expect.stringContaining("sip.acme.example"),
    });
    expect(restartedHost.stored).toBeDefined();
    expect(restartedHost.reports.types).not.toContain("unlinked");
    await restrictedNetwork.close();
  });
});

test("an account places no calls to premium-rate numbers", async () => {
  await requestPage(telephony, await payload(), fields());
  await host.reports.next("online", SOON_MS);
  const options = { callId: "call_1", ringTimeoutMs: 1_000 };
  const dialling = line.dial("+19002345678", options, new AbortController().signal);
  await expect(dialling).rejects.toMatchObject({ release: "rejected_by_network", message: /^not dialled: / });
  expect(farEnd.calls).toEqual([]);
});

test("invalid stored credentials are reported as unlinked", async () => {
  const invalidHost = new TestLineHost(new TextEncoder().encode('{"id":"1"}'));
  await openLine(telephony, invalidHost, "inst_2");
  await invalidHost.reports.next("unlinked", SOON_MS);
});

telephonyContract(
  "a SIP account",
  {
    patienceMs: 3_000,
    numbers: {
      answers: "+12025550100",
      busy: "+12025550101",
      rings: "+12025550102",
      declines: "+12025550103",
      hangsUp: "+12025550104",
      unknown: "+12025550108",
      speaks: { skip: "the trunk's own run has it" },
      presses: { skip: "the trunk's own run has it" },
    },
    async create() {
      const server = await startFarEnd({
        callees: {
          "+12025550100": callees.answers,
          "+12025550101": callees.busy,
          "+12025550102": callees.rings,
          "+12025550103": callees.declines,
          "+12025550104": callees.hangsUp,
        },
        registrar: { challenge: { user: "tom", password: PASSWORD } },
      });
      const accountNetwork = network();
      return {
        telephony: accountNetwork,
        scan: async (code) => {
          const account = { ...fields(), server: `127.0.0.1:${server.port}` };
          const { status } = await requestPage(accountNetwork, code, account);
          if (status !== 200) throw new Error(`the account got status ${status}`);
        },
        heard: async () => server.calls.at(-1)!.heard,
        close: () => server.close(),
      };
    },
  },
  { describe, test, expect },
);
