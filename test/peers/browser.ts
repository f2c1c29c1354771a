import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { until } from "../support/server-client.ts";
import { pathOf } from "./tools.ts";

/** Ways to view a page: on a phone or a desktop, in dark or light mode. */
export interface Look {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

/** A page with its requests and errors. */
export interface WatchedPage {
  readonly page: Page;
  /** Every URL requested, including the page's own and those of WebSockets. */
  readonly requests: readonly string[];
  /** Errors of the page: exceptions, refused files, errors on the console. */
  readonly faults: readonly string[];
}

/**
 * A headless Chromium that runs during the tests of the surrounding `describe`.
 * @param flags flags of its command line
 */
export function useBrowser(flags: readonly string[] = []): TestBrowser {
  const browser = new TestBrowser(flags);
  beforeAll(() => browser.start());
  afterAll(() => browser.stop());
  return browser;
}

/** Debian's Chromium without the windows of a desktop, which would take half a second of processor time per page. */
export class TestBrowser {
  readonly #flags: readonly string[];
  #browser: Browser | undefined;

  constructor(flags: readonly string[]) {
    this.#flags = flags;
  }

  async start(): Promise<void> {
    this.#browser = await chromium.launch({
      executablePath: pathOf("chromium-headless-shell")!,
      args: ["--no-sandbox", ...this.#flags],
    });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
  }

  /** Opens a page in a new profile, which is closed with the test. */
  async open(look: Partial<Look> = {}, options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const { width = 1280, scheme = "light" } = look;
    const context = await this.#browser!.newContext({
      viewport: { width, height: 800 },
      isMobile: width < 600,
      colorScheme: scheme,
      ...options,
    });
    context.setDefaultTimeout(15_000);
    onTestFinished(() => context.close());
    return watchPage(await context.newPage());
  }
}

/** Starts to watch a page. */
export function watchPage(page: Page): WatchedPage {
  const requests: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("websocket", (socket) => requests.push(socket.url()));
  page.on("pageerror", (error) => faults.push(String(error.stack ?? error)));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // The page itself ended it, by a navigation for example.
    if (reason !== "net::ERR_ABORTED") faults.push(`not loaded: ${request.url()} ${reason}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${message.text()} ${message.location().url}`);
  });
  return { page, requests, faults };
}

/** Waits until an expression is true in the page; unlike `page.waitForFunction`, any Content-Security-Policy allows it. */
export async function waitFor(page: Page, expression: string, ms: number = 15_000): Promise<void> {
  // A page that is being replaced cannot be evaluated.
  const evaluate = () => page.evaluate<boolean>(expression).catch(() => false);
  await until(evaluate, (value) => value === true, ms, `${expression} in the page`);
}
