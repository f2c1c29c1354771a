import type { Page } from "playwright-core";
import { test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import type { Client } from "../../support/server-client.ts";
import { useConsole } from "./support/console.ts";
import { expectGoodLooks, LOOKS, waitUntilLoaded } from "./support/looks.ts";

/** Small screens in one scheme: long words break the layout there first. */
const SMALL_SCREENS = LOOKS.filter(({ width, scheme }) => width < 1_000 && scheme === "light");

describeEach([ON_NODE], (target) => {
  withTools("the pages in Chromium", ["chromium-headless-shell"], () => {
    const console = useConsole(target, { env: { RINGPORT_STREAM_PREVIEW: "1" } });

    async function expectPages(page: Page, pages: Readonly<Record<string, string>>, looks = LOOKS): Promise<void> {
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(console.url + path);
        await waitUntilLoaded(page);
        await expectGoodLooks(page, name, looks);
      }
    }

    test("for signed-out users are readable everywhere", async () => {
      const page = await console.open();
      await page.goto(await console.registerUrl());
      await waitUntilLoaded(page);
      await expectGoodLooks(page, "register");
      await console.signUp(); // there is now an account to sign in with
      await expectPages(page, { "sign-in": "/sign-in", reset: "/reset" });
    });

    test("of a new account explain what to do", async () => {
      const page = await console.signUp();
      await expectPages(page, {
        "overview-empty": "",
        "numbers-empty": "/instances",
        "calls-empty": "/calls",
        "webhooks-empty": "/webhooks",
        "tokens-empty": "/tokens",
        missing: "/no-such-page",
      });
    });

    test("also fit small screens in Portuguese", async () => {
      const page = await console.signUp({}, { locale: "pt-BR" });
      const client = console.server.client(await console.tokenOf(page));
      await page.goto(console.url);
      await page.getByRole("heading", { name: "Início", exact: true }).waitFor();
      await expectPages(page, { "overview-empty-pt": "" }, SMALL_SCREENS);
      const pages = pagesOf(await history(client));
      await expectPages(
        page,
        Object.fromEntries(Object.entries(pages).map(([name, path]) => [`${name}-pt`, path])),
        SMALL_SCREENS,
      );
    });

    test("of an account in use are readable everywhere", { timeout: 180_000 }, async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      await expectPages(page, pagesOf(await history(client)));
    });
  });
});

interface History {
  readonly instanceId: string;
  readonly webhookId: string;
}

/** The pages of a user with this history; the page of a call has its own test. */
const pagesOf = ({ instanceId, webhookId }: History): Record<string, string> => ({
  overview: "",
  numbers: "/instances",
  number: `/instances/${instanceId}`,
  calls: "/calls",
  "new-call": "/calls/new",
  webhooks: "/webhooks",
  webhook: `/webhooks/${webhookId}`,
  tokens: "/tokens",
  account: "/account",
  audit: "/audit",
  phone: "/phone?number=%2B12025550147",
});

/** Successful and failed calls, and a webhook. */
async function history(client: Client): Promise<History> {
  const { id: instanceId } = await client.activeInstance("Front desk");
  await client.createInstance("Reception");
  const { id: webhookId } = (
    await client.post("/v1/webhooks", { url: "https://example.com/hooks/ringport", description: "CRM" })
  ).json<{ id: string }>();
  for (const phoneNumber of ["+12025550101", "+12025550103", "+12025550108"])
    await client.waitForCall((await client.call(instanceId, { target: { phoneNumber } })).id);
  const { id } = await client.call(instanceId, { reference: "order 1071" });
  await client.waitForCall(id);
  return { instanceId, webhookId };
}
