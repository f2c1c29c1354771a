import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withTools } from "../../peers/tools.ts";
import { describeEach, ON_NODE } from "../../support/server.ts";
import { PASSWORD, useConsole } from "./support/console.ts";
import { copyCall } from "./support/copied-calls.ts";

const CALL_COUNT = 1_000;
/** Number of calls that start and end in each attempt. */
const CALLS_PER_ATTEMPT = 4;
/** Maximum number of attempts: other programs on a busy machine may slow some of them down. */
const MAX_ATTEMPTS = 6;
const SMOOTH_ATTEMPTS = 2;
/** Maximum duration of a task on the main thread, ms. */
const MAX_TASK_MS = 100;

describeEach([ON_NODE], (target) => {
  withTools("calls in Chromium", ["chromium-headless-shell"], () => {
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
      await page.getByText("No number yet").waitFor();
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

    test("keys move through the list, and the focus follows", async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance();
      const { id } = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
      await client.waitForCall(id);
      const ages = Array.from({ length: 89 }, (_, i) => 60_000 * (i + 1));
      copyCall(console.server, id, ages);
      await page.goto(`${console.url}/calls`);
      await page.getByText("90 calls", { exact: true }).waitFor();
      await page.locator(".call-row").first().focus();
      const row = (): Promise<number> => page.evaluate("Number(document.activeElement.ariaRowIndex)");
      const steps = [
        ["End", 91],
        ["ArrowUp", 90],
        ["Home", 2],
        ["ArrowDown", 3],
        ["End", 91],
      ] as const;
      for (const [key, to] of steps) {
        await page.keyboard.press(key);
        expect([key, await row()]).toEqual([key, to]);
      }
      await page.keyboard.press("PageUp");
      await expect.poll(row).toBeLessThan(85);
      const rowAbove = await row();
      await page.keyboard.press("PageUp");
      await expect.poll(row).toBe(rowAbove - (91 - rowAbove));
      // Rows that the first task did not draw appear soon after.
      const undrawnScript = `(() => {
        const rows = [...document.querySelectorAll(".call-row")].map((row) => row.getBoundingClientRect());
        return rows[0].top > 0 || rows.at(-1).bottom < innerHeight;
      })()`;
      await expect.poll(() => page.evaluate(undrawnScript)).toBe(false);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Call to +12025550101" }).waitFor();
    });

    test(`a list of ${CALL_COUNT} calls stays smooth while calls start and end`, { timeout: 120_000 }, async () => {
      const page = await console.signUp();
      const client = console.server.client(await console.tokenOf(page));
      const { id: instanceId } = await client.activeInstance();
      const { id } = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
      await client.waitForCall(id);
      copyCall(
        console.server,
        id,
        Array.from({ length: CALL_COUNT - 1 }, (_, i) => 60_000 * (i + 1)),
      );
      const longestTasks: number[] = [];
      const smoothCount = (): number => longestTasks.filter((ms) => ms <= MAX_TASK_MS).length;
      for (let attempt = 0; attempt < MAX_ATTEMPTS && smoothCount() < SMOOTH_ATTEMPTS; attempt++) {
        await page.goto(`${console.url}/calls`);
        await page.getByRole("link", { name: "+1 202 555 0101" }).first().waitFor();
        longestTasks.push(
          await longestTask(page, async () => {
            await scrollThrough(page);
            await page.getByText(count(CALL_COUNT + attempt * CALLS_PER_ATTEMPT), { exact: true }).waitFor();
            await page.evaluate("scrollTo(0, 0)");
            for (let call = 0; call < CALLS_PER_ATTEMPT; call++) {
              const { id: next } = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
              await client.waitForCall(next);
              await page.mouse.wheel(0, call % 2 === 0 ? 4_000 : -4_000);
            }
            await page.getByText(count(CALL_COUNT + (attempt + 1) * CALLS_PER_ATTEMPT), { exact: true }).waitFor();
          }),
        );
        expect(await page.evaluate("document.querySelectorAll('a[href*=\"/calls/call_\"]').length")).toBeLessThan(150);
      }
      expect(smoothCount(), `longest tasks: ${longestTasks.join(", ")} ms`).toBe(SMOOTH_ATTEMPTS);
    });
  });
});

const count = (calls: number): string => `${calls.toLocaleString("en-US")} calls`;

/** Scrolls to the end of the list, which is read page by page. */
async function scrollThrough(page: Page): Promise<void> {
  await page.mouse.move(700, 600);
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 20_000);
        return page.locator(".call-grid").getAttribute("aria-rowcount");
      },
      { timeout: 60_000 },
    )
    .not.toBe("-1");
}

/** Runs an action in a page. @returns the longest task of its main thread during the action, ms; 0 if none took 50 ms */
async function longestTask(page: Page, run: () => Promise<void>): Promise<number> {
  await page.evaluate(`
    globalThis.longTasks = [];
    globalThis.noteTasks = (entries) => longTasks.push(...entries.map(({ duration }) => duration));
    globalThis.taskObserver = new PerformanceObserver((list) => noteTasks(list.getEntries()));
    taskObserver.observe({ type: "longtask" });
  `);
  await run();
  return page.evaluate<number>(`
    noteTasks(taskObserver.takeRecords());
    taskObserver.disconnect();
    Math.max(0, ...longTasks);
  `);
}

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const names: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focusedElement = await page.evaluate<string>(`(() => {
      const { activeElement } = document;
      const labels = [...(activeElement.labels ?? [])].map(({ innerText }) => innerText);
      return (activeElement.ariaLabel ?? labels[0] ?? activeElement.innerText ?? "").trim();
    })()`);
    if (focusedElement === name) return;
    names.push(focusedElement);
  }
  throw new Error(`Tab does not lead to “${name}”, only to: ${names.join(", ")}`);
}
