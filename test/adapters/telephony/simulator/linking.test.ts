import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Simulator, simulator } from "../../../../adapters/telephony/simulator/index.ts";
import type { Line } from "../../../../src/ports/telephony.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { CODE_POINT, fuzz } from "../../../support/fuzz.ts";
import { visit } from "./scan.ts";

const PUBLIC_URL = "https://calls.example/base";
let system: ManualSystem;
let telephony: Simulator;
let host: TestLineHost;
let line: Line;

beforeEach(async () => {
  system = new ManualSystem();
  telephony = simulator({ system });
  host = new TestLineHost(undefined, PUBLIC_URL);
  line = await telephony.open(
    { id: "inst_1", userId: "usr_1", name: `<b>"Tom & 'Jerry'"</b>` },
    host,
    new AbortController().signal,
  );
});
afterEach(() => telephony.close());

/** Payloads of all codes so far. */
const codes = (): string[] =>
  host.reports.all.flatMap((report) => (report.type === "code" ? [report.code.payload] : []));
const status = async (method: string, url: string): Promise<number | undefined> =>
  (await visit(telephony, method, url))?.status;

describe("linking codes", () => {
  test("codes rotate every 20 s, are numbered, and carry their expiry", async () => {
    await line.link();
    await system.advance(40_000);
    const reports = host.reports.all.flatMap((report) => (report.type === "code" ? [report.code] : []));
    expect(reports.map((code) => code.sequence)).toEqual([1, 2, 3]);
    expect(reports.map((code) => code.expiresAt - Date.UTC(2026, 0, 1))).toEqual([20_000, 40_000, 60_000]);
    expect(new Set(codes()).size).toBe(3);
    for (const payload of codes())
      expect(payload).toMatch(/^https:\/\/calls\.example\/base\/simulator\/link\/[0-9a-z]{16}$/);
  });

  test("a code is accepted until 20 s after its successor appeared", async () => {
    await line.link();
    const [first] = codes();
    await system.advance(40_000);
    expect(await status("HEAD", first!)).toBe(200);
    await system.advance(1);
    expect(await status("GET", first!)).toBe(410);
    expect(await status("POST", first!)).toBe(410);
    expect(host.reports.types.includes("linked")).toBe(false);
  });

  test("opening the page reserves a code for 2 minutes; HEAD does not", async () => {
    await line.link();
    const [first] = codes();
    await system.advance(20_000);
    const second = codes()[1]!;
    await status("GET", first!);
    await status("HEAD", second);
    await system.advance(120_000);
    expect(await status("POST", second)).toBe(410);
    expect(await status("POST", first!)).toBe(200);
  });

  test("codes stop 10 minutes after the last request, and resume on another", async () => {
    await line.link();
    await system.advance(300_000);
    await line.link();
    await system.advance(1_200_000);
    const count = codes().length;
    expect(count).toBe(45); // one every 20 s for 15 minutes
    expect(system.waiting).toBe(0);
    await line.link();
    expect(codes().length).toBe(count + 1);
    expect(await status("GET", codes().at(-1)!)).toBe(200);
  });

  test("codes stop and expire when the line is linked, closed or unlinked", async () => {
    for (const ending of ["link", "close", "unlink"] as const) {
      const otherHost = new TestLineHost();
      const otherLine = await telephony.open(
        { id: "inst_2", userId: "usr_1", name: "Other" },
        otherHost,
        new AbortController().signal,
      );
      await otherLine.link();
      const { code } = await otherHost.reports.next("code", 1_000);
      await system.advance(20_000);
      const secondCode = otherHost.reports.all.findLast((report) => report.type === "code")!;
      if (ending === "link") expect(await status("POST", code.payload)).toBe(200);
      else await otherLine[ending]();
      const count = otherHost.reports.types.filter((type) => type === "code").length;
      await system.advance(60_000);
      expect(otherHost.reports.types.filter((type) => type === "code").length).toBe(count);
      expect(await status("POST", code.payload)).toBe(410);
      expect(await status("POST", secondCode.code.payload)).toBe(410);
    }
  });

  test("codes count from 1 again after unlinking", async () => {
    await line.link();
    await status("POST", codes()[0]!);
    await line.unlink();
    await line.link();
    const latestCode = host.reports.all.findLast((report) => report.type === "code")!;
    expect(latestCode.code.sequence).toBe(1);
  });
});

describe("the linking page", () => {
  test("POST links without a preceding GET, and the line is online 200 ms later", async () => {
    await line.link();
    const reply = await visit(telephony, "POST", codes()[0]!);
    expect(reply?.status).toBe(200);
    expect(reply?.body).toContain("<h1>Linked</h1>");
    expect(host.reports.types).toEqual(["code", "linked"]);
    expect(host.reports.all.at(-1)).toMatchObject({ phone: expect.stringMatching(/^\+1202555[1-9]\d{3}$/) });
    await system.advance(199);
    expect((await line.probe()).state).toBe("offline");
    await system.advance(1);
    expect(host.reports.types.at(-1)).toBe("online");
  });

  test("an unknown code gets a friendly 404, a used one a 410", async () => {
    await line.link();
    const [code] = codes();
    const unknownCode = await visit(telephony, "GET", `${PUBLIC_URL}/simulator/link/0000000000000000`);
    expect(unknownCode?.status).toBe(404);
    expect(unknownCode?.body).toContain("Please scan");
    await visit(telephony, "POST", code!);
    const usedCode = await visit(telephony, "POST", code!);
    expect(usedCode?.status).toBe(410);
    expect(usedCode?.body).toContain("no longer valid");
  });

  test("two simultaneous presses of the button link once", async () => {
    await line.link();
    const [code] = codes();
    const statuses = await Promise.all([status("POST", code!), status("POST", code!)]);
    expect(statuses).toEqual([200, 410]);
    expect(host.reports.types.filter((type) => type === "linked").length).toBe(1);
  });

  test("a link whose credentials cannot be stored responds 503 and can be retried", async () => {
    await line.link();
    const [code] = codes();
    const originalLinked = host.linked.bind(host);
    host.linked = () => Promise.reject(new Error("disk full"));
    expect(await status("POST", code!)).toBe(503);
    expect(host.reports.types).toEqual(["code"]);
    host.linked = originalLinked;
    expect(await status("POST", code!)).toBe(200);
  });

  test("a link that takes five seconds to store responds 503, and the next press joins it", async () => {
    await line.link();
    const [code] = codes();
    let finishStoring = () => {};
    host.linkedBarrier = new Promise<void>((resolve) => {
      finishStoring = resolve;
    });
    const first = status("POST", code!);
    await system.advance(5_000);
    expect(await first).toBe(503);
    expect(await line.probe()).toEqual({ state: "offline", reason: "not linked" });
    const second = status("POST", code!);
    await system.settle();
    finishStoring();
    expect(await second).toBe(200);
    await system.advance(1_000);
    expect(host.reports.types.filter((type) => type !== "code")).toEqual(["linked", "online"]);
  });

  test("unlinking waits for a link and undoes it", async () => {
    await line.link();
    const pendingLink = status("POST", codes()[0]!);
    await line.unlink();
    expect(await pendingLink).toBe(200);
    await system.advance(1_000);
    expect(await line.probe()).toEqual({ state: "offline", reason: "not linked" });
    expect(host.reports.types.includes("online")).toBe(false);
  });

  test("the page is small, escaped and self-contained", async () => {
    await line.link();
    const reply = await visit(telephony, "GET", codes()[0]!);
    const html = String(reply?.body);
    expect(html.length).toBeLessThan(2_000);
    expect(html).toContain('<form method="post"><button>Link this phone</button></form>');
    expect(html).toContain("&#60;b&#62;&#34;Tom &#38; &#39;Jerry&#39;&#34;&#60;/b&#62;");
    expect(html).not.toMatch(/<script|https?:|<b>|url\(/i);
    const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    expect(reply?.headers["content-security-policy"]).toBe(
      `default-src 'none'; img-src data:; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(reply?.headers["cache-control"]).toBe("no-store");
  });

  test("the page supports GET, HEAD, POST and JSON; other methods get 405", async () => {
    await line.link();
    const [code] = codes();
    const get = await visit(telephony, "GET", code!);
    const head = await visit(telephony, "HEAD", code!);
    expect([head?.status, head?.headers, head?.body]).toEqual([get?.status, get?.headers, undefined]);
    const put = await visit(telephony, "PUT", code!);
    expect([put?.status, put?.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
    const json = await visit(telephony, "POST", code!, "application/json");
    expect(JSON.parse(String(json?.body))).toMatchObject({ linked: true, instance_id: "inst_1" });
  });

  test("other paths are not pages", async () => {
    for (const path of ["", "/", "/lin", "/linkx", "/calls", "/link/a/b"])
      expect(await visit(telephony, "GET", `/simulator${path}`)).toBe(undefined);
    expect((await visit(telephony, "GET", "/simulator/link"))?.status).toBe(404);
  });
});

describe("stored credentials", () => {
  test("another network's credentials leave the line unlinked", async () => {
    for (const credentials of ["", "{", "null", "[]", '{"id":1}', "\u0000"]) {
      const otherHost = new TestLineHost(new TextEncoder().encode(credentials));
      const otherLine = await telephony.open(
        { id: "inst_2", userId: "usr_1", name: "Other" },
        otherHost,
        new AbortController().signal,
      );
      await system.advance(1_000);
      expect(otherHost.reports.types).toEqual(["unlinked"]);
      expect((await otherLine.probe()).state).toBe("offline");
    }
  });
});

describe("hostile paths", () => {
  const piece = fc.oneof(
    fc.string({ unit: CODE_POINT }),
    fc.constantFrom("/", "..", "%2e%2e", "link", "\0", "\r\nx: y", "<script>", "__proto__", "heard.wav"),
  );
  const hostilePath = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  const method = fc.oneof(fc.constantFrom("GET", "HEAD", "POST", "DELETE"), fc.string());

  fuzz(
    "random paths and methods neither link nor break the pages",
    fc.asyncProperty(hostilePath, fc.constantFrom("", "/", "/link", "/link/"), method, async (tail, prefix, verb) => {
      const reply = await telephony.pages.page(prefix + tail, {
        method: verb,
        url: "http://x/",
        headers: { get: () => tail },
        body: null,
      });
      if (reply !== undefined) expect(reply.status).toBe(404);
      expect(JSON.stringify(reply?.headers ?? {})).not.toContain("x: y");
    }),
  );

  fuzz(
    "random call ids and names find no recording",
    fc.asyncProperty(hostilePath, hostilePath, async (callId, name) => {
      expect(await telephony.pages.artefact(callId, name)).toBe(undefined);
      expect(await telephony.pages.artefact(callId, "heard.wav")).toBe(undefined);
      expect(await telephony.pages.artefact(`../${callId}`, "heard.wav")).toBe(undefined);
    }),
  );
});
