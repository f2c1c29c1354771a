import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { printWelcome, type Welcome } from "../../../adapters/cli/serve/welcome.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { toneModels } from "../../support/tone-models.ts";
import { freshFolder } from "./run-cli.ts";

const BASE = "http://127.0.0.1:8080";
const CODE = "JbYr8mJv7hFnWqk2";

let printedTexts: string[] = [];
const { isTTY } = process.stdout;
beforeEach(() => {
  printedTexts = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => printedTexts.push(String(text)) > 0);
});
afterEach(() => {
  process.stdout.isTTY = isTTY;
});

/** The welcome of a server with these settings. */
function welcome({ tokens = 1, isRegistered = false, isTerminal = false, ...settings }: Partial<Scene> = {}) {
  process.stdout.isTTY = isTerminal;
  const list = vi.fn(async () => new Array(tokens).fill({}));
  const firstCode = vi.fn(async () => (isRegistered ? undefined : { code: CODE, expiresAt: 0 }));
  const first = async () => ({ token: "rp_live_x" });
  const voices = vi.fn(async () => []);
  const options = {
    ringport: { voices, tokens: { list, first }, accounts: { firstCode } },
    listening: { url: BASE },
    reachable: BASE,
    settings: { options: {}, ...settings },
  } as unknown as Welcome;
  return { list, firstCode, voices, print: async () => printWelcome(options).then(() => printedTexts.join("")) };
}
interface Scene extends Partial<Omit<Welcome["settings"], "console" | "options">> {
  readonly tokens: number;
  readonly isRegistered: boolean;
  readonly isTerminal: boolean;
  readonly console: "on" | "off";
  readonly options: Welcome["settings"]["options"];
}

test.each([
  new StorageUnavailable("the connection broke"),
  new Refusal("storage_unavailable", "another server may own the database"),
])("a failing storage during the welcome does not stop the server: $message", async (outage) => {
  const { list, firstCode, voices, print } = welcome({ isTerminal: true });
  voices.mockRejectedValue(outage);
  list.mockRejectedValue(outage);
  firstCode.mockRejectedValue(outage);
  expect(await print()).toContain(`Ringport is listening on ${BASE}`);
  expect(list).toHaveBeenCalledOnce();
  expect(printedTexts.join("")).not.toMatch(/token|register/);
  list.mockRejectedValueOnce(new Error("a mistake"));
  await expect(print()).rejects.toThrow("a mistake");
  list.mockResolvedValue([{}]);
  firstCode.mockRejectedValueOnce(new Error("another mistake"));
  await expect(print()).rejects.toThrow("another mistake");
});

test("the token file is complete before the address is printed", async () => {
  const tokenFile = join(freshFolder(), "token");
  const { print } = welcome({ tokens: 0, tokenFile });
  const welcomeLines: string[] = [];
  vi.mocked(process.stdout.write).mockImplementation((text) => {
    if (String(text).includes(BASE)) welcomeLines.push(readFileSync(tokenFile, "utf8"));
    return true;
  });
  await print();
  expect(welcomeLines[0]).toBe("rp_live_x\n");
});

test("the first request goes to the public address if the certificate is for it", async () => {
  const { print } = welcome({
    tokens: 0,
    options: { publicUrl: "https://calls.example.com" },
    tls: { cert: "cert.pem", key: "key.pem" },
    tokenFile: join(freshFolder(), "token"),
  });
  const text = await print();
  expect(text).toContain(`Ringport is listening on ${BASE}`);
  expect(text).toContain("curl -X POST https://calls.example.com/v1/instances");
});

describe("the line on streams", () => {
  const localOptions = { embedded: { transcription: { engine: "local" } }, data: freshFolder() } as const;

  test.each([
    [{}, "preview off (RINGPORT_STREAM_PREVIEW=1 switches it on)"],
    [{ streamPreview: true }, "preview on, no transcripts (RINGPORT_TRANSCRIPTION_ENGINE adds them)"],
    [
      { embedded: { transcription: { engine: "openai", baseUrl: "http://stt.example/v1", model: "m" } } },
      "preview off (RINGPORT_STREAM_PREVIEW=1 switches it on), transcripts only for agents, by openai at stt.example",
    ],
    [
      { ...localOptions, streamPreview: true },
      `preview on, no transcripts: there is no recogniser in ${join(localOptions.data, "models")} (recognisers: none)`,
    ],
  ] as const)("with %j is %s", async (options, line) => {
    const settings = options as Welcome["settings"]["options"];
    expect(await welcome({ options: settings }).print()).toContain(`  Stream   ${line}`);
  });

  test("names the missing engine of local transcripts", async () => {
    expect(await welcome({ options: { ...localOptions, streamPreview: true } }).print()).toContain("sherpa-onnx-node");
  });
});

describe("the line on voices", () => {
  const withModels = () => ({ data: freshFolder(), embedded: { neural: { models: toneModels() } } });

  test("names the engine of models that do not speak", async () => {
    const scene = welcome({ options: withModels() });
    expect(await scene.print()).toMatch(
      /^ {2}Voices {3}none; 2 voice models do not speak: the engine is not installed; to fix it, run: npm .*sherpa-onnx-node/m,
    );
  });

  test("has a second line for models that do not speak if there are other voices", async () => {
    const scene = welcome({ options: withModels() });
    const voice = { id: "en-US-7", language: "en-US", engine: "flite" };
    scene.voices.mockResolvedValue([voice] as never);
    expect(await scene.print()).toMatch(/^ {2}Voices {3}1 \(flite 1\).*\n {11}2 voice models do not speak: /m);
  });

  test("does not mention models if there are none", async () => {
    expect(await welcome({ options: { data: freshFolder() } }).print()).not.toContain("sherpa");
  });
});

describe("the console", () => {
  test("has its address in the welcome", async () => {
    expect(await welcome().print()).toMatch(/^ {2}Console {2}http:\/\/127\.0\.0\.1:8080\/console$/m);
    const options = { basePath: "/voice" };
    expect(await welcome({ options }).print()).toMatch(/^ {2}Console {2}http:\/\/127\.0\.0\.1:8080\/voice\/console$/m);
  });

  test("has the address at which a browser can sign in, if the public one is HTTPS", async () => {
    const options = { publicUrl: "https://calls.example.com/voice/", basePath: "/voice" };
    const text = await welcome({ options, isTerminal: true }).print();
    expect(text).toContain("  Console  https://calls.example.com/voice/console\n");
    expect(text).toContain(`  https://calls.example.com/voice/console/register#code=${CODE}\n`);
  });

  test.each([0, 1])("shows terminals the registration link, with %d tokens", async (tokens) => {
    expect(await welcome({ tokens, isTerminal: true }).print()).toContain(`  ${BASE}/console/register#code=${CODE}\n`);
  });

  test("has no link after the first registration", async () => {
    const text = await welcome({ isTerminal: true, isRegistered: true }).print();
    expect(text).toContain("Console");
    expect(text).not.toContain("register");
  });

  test("creates no code for other output, and names the command on the first start", async () => {
    const first = welcome({ tokens: 0 });
    expect(await first.print()).toMatch(/^To register in the console, run ringport account code/m);
    const laterStart = welcome();
    expect((await laterStart.print()).match(/register/g)).toHaveLength(1); // the first start's token
    expect([...first.firstCode.mock.calls, ...laterStart.firstCode.mock.calls]).toEqual([]);
  });

  test("is not mentioned if it is switched off", async () => {
    const withoutConsole = welcome({ tokens: 0, isTerminal: true, console: "off" });
    expect(await withoutConsole.print()).not.toMatch(/console|register/i);
    expect(withoutConsole.firstCode).not.toHaveBeenCalled();
  });
});
