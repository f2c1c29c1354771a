import type { BrowserContextOptions, Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import type { SessionState } from "../../../../adapters/console/api.ts";
import { type Look, type TestBrowser, useBrowser, type WatchedPage, watchPage } from "../../../peers/browser.ts";
import { type Server, type ServerOptions, type Target, useServer } from "../../../support/server.ts";

export const PASSWORD = "correct horse battery";

/** A server and a browser whose pages are all watched: no request may fail, or leave the server's origin. */
export class TestConsole {
  readonly server: Server;
  readonly #browser: TestBrowser;
  readonly #watchedPages: { readonly watchedPage: WatchedPage; readonly expectedFaults: RegExp[] }[] = [];
  #userCount = 0;

  constructor(server: Server, browser: TestBrowser) {
    this.server = server;
    this.#browser = browser;
  }

  /** URL of the console. */
  get url(): string {
    return `${this.server.base}/console`;
  }

  /** Address where the first person registers, as `ringport account code` prints it, with the port of this server. */
  async registerUrl(): Promise<string> {
    const { stdout, stderr } = await this.server.cli("account", "code");
    const page = /\/register#code=[\w-]+/.exec(stdout)?.[0];
    if (page === undefined) throw new Error(`no address was printed:\n${stdout}${stderr}`);
    return this.url + page;
  }

  /** A browser of a signed-out user. */
  async open(look: Partial<Look> = {}, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.#browser.open(look, { locale: "en-US", ...options });
    this.#watchedPages.push({ watchedPage: page, expectedFaults: [] });
    return page.page;
  }

  /** Opens another tab of the same browser. */
  async openSecondTab(page: Page): Promise<Page> {
    const tab = await page.context().newPage();
    this.watch(tab);
    return tab;
  }

  /** Watches a tab that a page has opened. */
  watch(tab: Page): void {
    this.#watchedPages.push({ watchedPage: watchPage(tab), expectedFaults: [] });
  }

  /** A browser of a user who has just registered; the first user of a server becomes the administrator. */
  async signUp(look: Partial<Look> = {}, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(look, options);
    const email = `person${++this.#userCount}@example.com`;
    const state = (await (await page.request.get(`${this.url}/api/session`)).json()) as SessionState;
    const code = state.registration === "first" ? (await this.registerUrl()).replace(/.*=/, "") : undefined;
    const data = { email, password: PASSWORD, code };
    const headers = { origin: new URL(this.url).origin };
    const response = await page.request.post(`${this.url}/api/register`, { data, headers });
    if (!response.ok()) throw new Error(`registration returned ${response.status()}: ${await response.text()}`);
    return page;
  }

  /** An API token for the user who is signed in on the page. */
  async tokenOf(page: Page): Promise<string> {
    const headers = { origin: new URL(this.url).origin };
    const response = await page.request.post(`${this.url}/api/tokens`, { data: { label: "test" }, headers });
    const { token } = (await response.json()) as { token: string };
    return token;
  }

  /** Errors that a page may print from this point, such as those of requests that must fail. */
  expectFaults(page: Page, pattern: RegExp): void {
    this.#watchedPages.find((openedPage) => openedPage.watchedPage.page === page)?.expectedFaults.push(pattern);
  }

  /** Expects that no request has left the origin or failed, and that no token stays in the browser. */
  async expectClean(): Promise<void> {
    const origin = new URL(this.url).origin;
    for (const { watchedPage, expectedFaults } of this.#watchedPages.splice(0)) {
      const { page, requests, faults } = watchedPage;
      const foreignRequests = requests.filter((url) => !/^(?:data|blob):/.test(url) && originOf(url) !== origin);
      expect.soft(foreignRequests, "requests to other origins").toEqual([]);
      expect
        .soft(
          faults.filter((fault) => !expectedFaults.some((pattern) => pattern.test(fault))),
          page.url(),
        )
        .toEqual([]);
      if (!page.isClosed() && originOf(page.url()) === origin)
        expect.soft(await storedData(page), "data stored by the browser").not.toMatch(/rp_live_|rp_demo_/);
    }
  }
}

/** A console that runs during the tests of the surrounding `describe`. Registration is open. */
export function useConsole(
  target: Target,
  { env, flags = [], ...options }: ServerOptions & { readonly flags?: readonly string[] } = {},
): TestConsole {
  const server = useServer(target, { ...options, env: { RINGPORT_REGISTRATION: "open", ...env } });
  const testConsole = new TestConsole(server, useBrowser(flags));
  afterEach(() => testConsole.expectClean());
  return testConsole;
}

/** The origin of a page, or of a WebSocket. */
const originOf = (url: string): string => new URL(url.replace(/^ws/, "http")).origin;

/** All data that scripts of the page have put into the browser, as text. */
async function storedData(page: Page): Promise<string> {
  const { origins } = await page.context().storageState({ indexedDB: true });
  const session = await page.evaluate<string>("JSON.stringify({ ...sessionStorage })");
  return JSON.stringify(origins) + session;
}
