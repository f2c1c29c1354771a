import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { endWithThisProcess } from "../support/runtimes.ts";
import { until } from "../support/server-client.ts";

/** A page in a headless Chromium. */
export interface Page {
  /** Every address that was asked for, the page's own included. */
  readonly requests: readonly string[];
  /** What went wrong in the page: exceptions, refused files, errors on the console. */
  readonly faults: readonly string[];
  open(url: string): Promise<void>;
  /** What a JavaScript expression is worth in the page. */
  evaluate<T>(expression: string): Promise<T>;
  /** Shows pages as a screen of this width does, in CSS pixels, that prefers this colour scheme. */
  show(screen: { readonly width: number; readonly scheme: "light" | "dark" }): Promise<void>;
  /** A picture of the whole page, PNG. */
  picture(): Promise<Buffer>;
  /** Waits until an expression is true. */
  waitFor(expression: string, ms?: number): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** Starts a Chromium with an empty profile, lets the work use a page of it, and ends it. */
export async function inBrowser(profile: string, work: (page: Page) => Promise<void>): Promise<void> {
  const browser = spawn(
    "chromium",
    [
      ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
      ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  endWithThisProcess(browser);
  const gone = new Promise<void>((resolve) => browser.once("exit", () => resolve()));
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const said: string[] = [];
      browser.once("error", reject);
      browser.once("exit", (code) => reject(new Error(`chromium ended with ${code}:\n${said.join("\n")}`)));
      createInterface({ input: browser.stderr }).on("line", (line) => {
        said.push(line);
        const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
        if (found) resolve(found);
      });
    });
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    await work(await attach(socket));
    socket.close();
  } finally {
    browser.kill("SIGKILL");
    await gone;
  }
}

/** Speaks the DevTools protocol with one new page. */
async function attach(socket: WebSocket): Promise<Page> {
  const waiting = new Map<number, (message: Message) => void>();
  const requests: string[] = [];
  const faults: string[] = [];
  let sessionId: string | undefined;
  let count = 0;

  const ask = (method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const id = ++count;
      waiting.set(id, ({ result, error }) =>
        error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result ?? {}),
      );
      socket.send(JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) }));
    });

  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    const params = message.params as Record<string, Record<string, unknown>> | undefined;
    if (message.method === "Network.requestWillBeSent") requests.push(String(params?.request?.url));
    if (message.method === "Network.loadingFailed") faults.push(`not loaded: ${params?.errorText}`);
    if (message.method === "Runtime.exceptionThrown") faults.push(JSON.stringify(params?.exceptionDetails));
    if (message.method === "Log.entryAdded" && params?.entry?.level === "error") faults.push(String(params.entry.text));
  });

  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  sessionId = String((await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId);
  for (const domain of ["Network", "Page", "Runtime", "Log"]) await ask(`${domain}.enable`);

  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  };
  return {
    requests,
    faults,
    evaluate,
    async open(url) {
      const { errorText } = await ask("Page.navigate", { url });
      if (errorText) throw new Error(`${url}: ${errorText}`);
    },
    async show({ width, scheme }) {
      await ask("Emulation.setDeviceMetricsOverride", {
        width,
        height: 800,
        deviceScaleFactor: 1,
        mobile: width < 600,
      });
      await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    },
    async picture() {
      const { data } = await ask("Page.captureScreenshot", { captureBeyondViewport: true });
      return Buffer.from(String(data), "base64");
    },
    async waitFor(expression, ms = 15_000) {
      // While a page is being replaced there is nothing to ask.
      const ready = () => evaluate<boolean>(expression).catch(() => false);
      await until(ready, (is) => is === true, ms, `${expression} in the page (${faults.join("; ")})`);
    },
  };
}
