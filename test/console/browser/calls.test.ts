import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { ON_NODE, onEach } from "../../support/server.ts";
import { PASSWORD, useConsole } from "./support/console.ts";
import { copyCall } from "./support/copied-calls.ts";

const MANY = 1_000;
/** Longest time that the main thread may be busy at a stretch, ms. */
const LONGEST_TASK_MS = 100;

onEach([ON_NODE], (target) => {
  withTools("calls in Chromium", ["chromium"], () => {
    const console = useConsole(target, { env: { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

    test("the keyboard alone registers, adds a number and places a call", async () => {
      const page = await console.open();
      await page.goto(await console.registerUrl());
      await page.getByRole("heading", { name: "Welcome to Ringport" }).waitFor();
      await tabTo(page, "Email address");
      await page.keyboard.type("ada@example.com");
      await tabTo(page, "Password");
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Overview" }).waitFor();

      await tabTo(page, "Numbers");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Numbers" }).waitFor();
      await tabTo(page, "Add a number");
      await page.keyboard.press("Enter");
      await tabTo(page, "Name");
      await page.keyboard.type("Front desk");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Front desk" }).waitFor();
      const id = page.url().replace(/.*\//, "");
      await console.server.client(await console.tokenOf(page)).link(id);
      await page.getByText(/^Linked as \+/).waitFor();

      await tabTo(page, "Place a call");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "New call" }).waitFor();
      await tabTo(page, "Phone number");
      await page.keyboard.type("+12025550100");
      await tabTo(page, "Text");
      await page.keyboard.type("Hello from the keyboard.");
      await tabTo(page, "Place the call");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Call to +12025550100" }).waitFor();
      await page.getByText("The whole message was played.").first().waitFor();
      await page.getByText("Picked up", { exact: true }).first().waitFor();
    });

    test(`a list of ${MANY} calls stays smooth while calls come and go`, async () => {
      const page = await console.signedUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance();
      const { id } = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
      await client.waitForCall(id);
      copyCall(
        console.server,
        id,
        Array.from({ length: MANY - 1 }, (_, i) => 60_000 * (i + 1)),
      );
      await page.goto(`${console.url}/calls`);
      await page.getByRole("link", { name: "+1 202 555 0101" }).first().waitFor();
      const longestTask = await timeTasks(page);
      for (let more = 40; more > 0 && !(await page.getByText("1,000 calls", { exact: true }).isVisible()); more--) {
        await page.mouse.move(700, 600);
        await page.mouse.wheel(0, 20_000);
        await expect.poll(() => page.getByText("Reading earlier calls").isVisible()).toBe(false);
      }
      await page.getByText("1,000 calls", { exact: true }).waitFor();
      await page.evaluate("scrollTo(0, 0)");
      for (let call = 0; call < 10; call++) {
        const { id: next } = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
        await client.waitForCall(next);
        await page.mouse.wheel(0, call % 2 === 0 ? 4_000 : -4_000);
      }
      await page.getByText("1,010 calls", { exact: true }).waitFor();
      expect(await longestTask()).toBeLessThanOrEqual(LONGEST_TASK_MS);
      expect(await page.evaluate("document.querySelectorAll('a[href*=\"/calls/call_\"]').length")).toBeLessThan(150);
    });
  });
});

/**
 * Times the tasks of the page's main thread from now on, by the processor: what other programs of a busy machine do does not
 * count. @returns ends that, with the longest one, ms
 */
async function timeTasks(page: Page): Promise<() => Promise<number>> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  return async () => {
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    const main = traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
    const tasks = traceEvents.filter(
      ({ name, pid, tid }) => name === "RunTask" && main.some((thread) => thread.pid === pid && thread.tid === tid),
    );
    if (tasks.length < 100) throw new Error(`only ${tasks.length} tasks were traced`);
    return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000));
  };
}

/** Times in µs; `tdur` is that of the processor. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Presses Tab until the element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const names: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate<string>(`(() => {
      const { activeElement } = document;
      const labels = [...(activeElement.labels ?? [])].map(({ innerText }) => innerText);
      return (activeElement.ariaLabel ?? labels[0] ?? activeElement.innerText ?? "").trim();
    })()`);
    if (focused === name) return;
    names.push(focused);
  }
  throw new Error(`Tab does not lead to “${name}”, only to: ${names.join(", ")}`);
}
