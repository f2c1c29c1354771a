import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ON_NODE, onEach, useServer } from "../support/server.ts";
import { inBrowser } from "./browser.ts";
import { folder, withTools } from "./tools.ts";

/** What the page below finds out. */
interface Story {
  readonly fault?: string;
  readonly listed: readonly string[];
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

/** The page of an application that uses the client; it lies on another origin than the server. */
const page = (url: string, token: string, instanceId: string): string => `<!doctype html><script type="module">
  import { createClient, RingportError } from "/client.js";
  const client = createClient({ url: ${JSON.stringify(url)}, token: ${JSON.stringify(token)} });
  try {
    for (const name of ["One", "Two", "Three"]) await client.instances.create({ name });
    const listed = [];
    for await (const { name } of client.instances.list({ limit: 2 })) listed.push(name);
    const target = { phoneNumber: "+12025550104" };
    const tts = { text: "Hello from a page. This is long enough to be hung up on.", voiceId: "en-US-1" };
    const call = await client.calls.create({ instanceId: ${JSON.stringify(instanceId)}, type: "FIXED_TTS", target, tts });
    const progress = [];
    const { status, outcome } = await client.waitForCall(call.id, { onProgress: ({ type }) => progress.push(type) });
    const problem = await client.calls.get("call_0").catch((error) => error);
    if (!(problem instanceof RingportError)) throw problem;
    const { name, code, requestId } = problem;
    globalThis.story = { listed, status, reason: outcome.reason, progress, problem: { name, code, status: problem.status, requestId } };
  } catch (error) {
    globalThis.story = { fault: String(error.stack ?? error) };
  }
</script>`;

onEach([ON_NODE], (target) => {
  withTools("Chromium", ["chromium"], () => {
    const files = folder();
    const server = useServer(target, { env: { RINGPORT_CORS: "*" } });
    let application: Server;
    let html = "";
    beforeAll(async () => {
      const bundled = await build({
        entryPoints: [CLIENT],
        bundle: true,
        format: "esm",
        platform: "browser",
        write: false,
      });
      const script = bundled.outputFiles[0]!.text;
      application = createServer(({ url }, response) => {
        response.setHeader("content-type", url === "/client.js" ? "text/javascript" : "text/html");
        response.end(url === "/client.js" ? script : html);
      });
      await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
    });
    afterAll(() => void application?.close().closeAllConnections());

    test("a page of another origin creates, lists page by page, waits for a call and meets a problem", async () => {
      const client = await server.as("ada");
      const { id } = await client.activeInstance("Desk");
      html = page(server.base, client.token ?? "", id);
      await inBrowser(join(files, "profile"), async (browser) => {
        await browser.open(`http://127.0.0.1:${(application.address() as AddressInfo).port}/`);
        await browser.waitFor("globalThis.story !== undefined");
        const { fault, listed, status, reason, progress, problem } = await browser.evaluate<Story>("globalThis.story");
        expect(fault).toBeUndefined();
        expect(listed).toEqual(["Three", "Two", "One", "Desk"]);
        expect({ status, reason }).toEqual({ status: "COMPLETED", reason: "callee_hung_up" });
        expect(progress).toEqual(expect.arrayContaining(["queued", "ringing", "answered", "completed"]));
        expect(problem).toMatchObject({ name: "RingportError", code: "call_not_found", status: 404 });
        expect(problem.requestId).toMatch(/\S/);
      });
    });
  });
});
