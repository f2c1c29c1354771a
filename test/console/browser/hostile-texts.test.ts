import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { useConsole } from "./support/console.ts";
import { waitUntilLoaded } from "./support/looks.ts";

/** Runs if any part of a page treats it as HTML. */
const HOSTILE_TEXT = `"><img src=x onerror="globalThis.broken=1"><script>globalThis.broken=1</script>{{1}}javascript:alert(1)`;

describeEach([ON_NODE], (target) => {
  withTools("hostile texts in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, { env: { RINGPORT_STREAM_PREVIEW: "1" } });

    test("names, labels, metadata, references, texts and webhooks are shown as text", {
      timeout: 120_000,
    }, async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance(HOSTILE_TEXT.slice(0, 100));
      const headers = { origin: new URL(console.url).origin };
      await page.request.post(`${console.url}/api/tokens`, { data: { label: HOSTILE_TEXT.slice(0, 100) }, headers });
      const webhook = await client.post("/v1/webhooks", {
        url: "https://example.com/%3Cimg%3E",
        description: HOSTILE_TEXT,
      });
      const { id } = await client.call(instanceId, {
        reference: HOSTILE_TEXT.slice(0, 60),
        metadata: { [HOSTILE_TEXT.slice(0, 40)]: HOSTILE_TEXT },
        tts: { text: HOSTILE_TEXT, voiceId: "en-US-1" },
      });
      await client.waitForCall(id);
      const agent = await client.call(instanceId, {
        type: "DYNAMIC_AGENT",
        tts: undefined,
        agent: { instructions: [`Say: ${HOSTILE_TEXT.replaceAll("{{1}}", "")}`] },
      });
      await client.waitForCall(agent.id);
      for (const view of [
        "",
        "/instances",
        `/instances/${instanceId}`,
        "/calls",
        "/calls/new",
        `/calls/${id}`,
        `/calls/${agent.id}`,
        "/webhooks",
        `/webhooks/${webhook.json<{ id: string }>().id}`,
        "/tokens",
        "/audit",
        `/phone?number=${encodeURIComponent(HOSTILE_TEXT)}`,
        `/sign-in?next=${encodeURIComponent("javascript:globalThis.broken=1")}`,
        `/calls/${encodeURIComponent(HOSTILE_TEXT.replaceAll(/[/\\]/g, "|"))}`,
      ]) {
        console.expectFaults(page, /40[04]/); // for the nonsense URLs
        await page.goto(console.url + view);
        await waitUntilLoaded(page);
        const pageState = await page.evaluate(
          "[globalThis.broken === undefined, document.querySelectorAll('img[src=x], main script').length]",
        );
        expect(pageState, view).toEqual([true, 0]);
      }
      await page.goto(`${console.url}/tokens`);
      await page.getByText(HOSTILE_TEXT.slice(0, 100)).first().waitFor();
      await page.getByRole("button", { name: /^Revoke "/ }).click();
      await page.getByRole("dialog").getByText("Programs that use it are refused").waitFor();
      expect(await page.evaluate("globalThis.broken")).toBeUndefined();
    });
  });
});
