import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { loudPart, toneShare } from "../support/server-sound.ts";
import { useBrowser, waitFor } from "./browser.ts";
import { withTools } from "./tools.ts";

/** Results of the page below. */
interface PageResults {
  readonly fault?: string;
  readonly listedNames: readonly string[];
  readonly status: string;
  readonly reason: string;
  readonly progress: readonly string[];
  readonly problem: {
    readonly name: string;
    readonly code: string;
    readonly status: number;
    readonly requestId: string;
  };
}

const CLIENT = fileURLToPath(new URL("../../src/client/index.ts", import.meta.url));

/** Results of the streaming page. */
interface StreamResults {
  readonly fault?: string;
  readonly callId: string;
  readonly mark: string;
  readonly events: readonly string[];
  readonly samples: number;
  readonly ended: { readonly status: string; readonly reason: string };
}

/** The page of an application that uses the client; its origin differs from the server's. */
const page = (url: string, token: string, instanceId: string, program: string): string => `<!doctype html>
<script type="module">
  import { createClient, RingportError } from "/client.js";
  const client = createClient({ url: ${JSON.stringify(url)}, token: ${JSON.stringify(token)} });
  const instanceId = ${JSON.stringify(instanceId)};
  try {${program}
  } catch (error) {
    globalThis.results = { fault: String(error.stack ?? error) };
  }
</script>`;

const CALLS = `
    for (const name of ["One", "Two", "Three"]) await client.instances.create({ name });
    const listedNames = [];
    for await (const { name } of client.instances.list({ limit: 2 })) listedNames.push(name);
    const target = { phoneNumber: "+12025550104" };
    const tts = { text: "Hello from a page. This is long enough to be hung up on.", voiceId: "en-US-1" };
    const call = await client.calls.create({ instanceId, type: "FIXED_TTS", target, tts });
    const progress = [];
    const { status, outcome } = await client.waitForCall(call.id, { onProgress: ({ type }) => progress.push(type) });
    const problem = await client.calls.get("call_0").catch((error) => error);
    if (!(problem instanceof RingportError)) throw problem;
    const { name, code, requestId } = problem;
    globalThis.results = { listedNames, status, reason: outcome.reason, progress, problem: { name, code, status: problem.status, requestId } };`;

const STREAMS = `
    const target = { phoneNumber: "+12025550106" };
    const { id } = await client.calls.create({ instanceId, type: "DYNAMIC_STREAM", target });
    const stream = await client.stream(id, { audio: "callee" });
    const events = [];
    const eventsRead = (async () => {
      for await (const message of stream.events()) if (message.type === "call_event") events.push(message.event);
    })();
    await stream.write(Int16Array.from({ length: 32_000 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 700 * i) / 16_000)));
    const mark = await stream.mark("tone");
    let samples = 0;
    for await (const frame of stream.audio()) {
      samples += frame.length;
      if (samples >= 32_000) break;
    }
    await stream.hangUp();
    await eventsRead;
    globalThis.results = { callId: id, mark, events, samples, ended: await stream.ended };`;

describeEach([ON_NODE], (target) => {
  withTools("Chromium", ["chromium-headless-shell"], () => {
    const browser = useBrowser();
    const server = useServer(target, { env: { RINGPORT_CORS: "*", RINGPORT_STREAM_PREVIEW: "1" } });
    let application: Server;
    let html = "";
    beforeAll(async () => {
      const bundleResult = await build({
        entryPoints: [CLIENT],
        bundle: true,
        format: "esm",
        platform: "browser",
        write: false,
      });
      const script = bundleResult.outputFiles[0]!.text;
      application = createServer(({ url }, response) => {
        response.setHeader("content-type", url === "/client.js" ? "text/javascript" : "text/html");
        response.end(url === "/client.js" ? script : html);
      });
      await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
    });
    afterAll(() => void application?.close().closeAllConnections());

    test("a page of another origin creates and lists instances, places a call, and gets a problem", async () => {
      const client = await server.as("ada");
      const { id } = await client.activeInstance("Desk");
      html = page(server.base, client.token ?? "", id, CALLS);
      const { page: applicationPage } = await browser.open();
      await applicationPage.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}/`);
      await waitFor(applicationPage, "globalThis.results !== undefined");
      const { fault, listedNames, status, reason, progress, problem } =
        await applicationPage.evaluate<PageResults>("globalThis.results");
      expect(fault).toBeUndefined();
      expect(listedNames).toEqual(["Three", "Two", "One", "Desk"]);
      expect({ status, reason }).toEqual({ status: "COMPLETED", reason: "callee_hung_up" });
      expect(progress).toEqual(expect.arrayContaining(["queued", "ringing", "answered", "completed"]));
      expect(problem).toMatchObject({ name: "RingportError", code: "call_not_found", status: 404 });
      expect(problem.requestId).toMatch(/\S/);
    });

    test("a page of another origin streams a tone, and hears the callee", async () => {
      const client = await server.as("bob");
      const { id } = await client.activeInstance("Desk");
      html = page(server.base, client.token ?? "", id, STREAMS);
      const { page: applicationPage, requests } = await browser.open();
      await applicationPage.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}/`);
      await waitFor(applicationPage, "globalThis.results !== undefined");
      const { fault, callId, mark, events, samples, ended } =
        await applicationPage.evaluate<StreamResults>("globalThis.results");
      expect(fault).toBeUndefined();
      expect(mark).toBe("reached");
      expect(events).toEqual(expect.arrayContaining(["ringing", "answered", "mark", "completed"]));
      expect(samples).toBeGreaterThanOrEqual(32_000);
      expect(ended).toMatchObject({ status: "completed", reason: "stream_closed" });
      const heardSound = await client.heard(callId);
      const { from, to } = loudPart(heardSound, 500);
      expect(((to - from) * 1000) / heardSound.sampleRate).toBeCloseTo(2_000, -2);
      expect(toneShare({ ...heardSound, samples: heardSound.samples.subarray(from, to) }, 700)).toBeGreaterThan(0.99);
      // The token is not part of any URL.
      expect(requests.filter((url) => url.includes(client.token ?? "?"))).toEqual([]);
    });
  });
});
