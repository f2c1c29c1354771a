import { readFile } from "node:fs/promises";
import { afterEach, expect, test, vi } from "vitest";
import { flitePath } from "../../../adapters/speech/flite-job.ts";
import { OUTPUT_FILE, WasiCommand, webAssembly } from "../../../adapters/speech/wasi-command.ts";

const MAX_BYTES = 1_000_000;

const flite = await WasiCommand.compile(await readFile(flitePath()));
const speak = (text: string, voice = "kal16", maxBytes = MAX_BYTES) =>
  flite.run(["flite", "-voice", voice, "-t", text, "-o", OUTPUT_FILE], maxBytes);

afterEach(() => void vi.restoreAllMocks());

test("runs share one memory and leave no traces in it", async () => {
  const instantiate = vi.spyOn(webAssembly, "instantiate");
  const first = await speak("Your table is ready.");
  await speak("A much longer text, which needs more memory than the first one did. ".repeat(4), "slt");
  const repeatedRun = await speak("Your table is ready.");

  expect(first.file.length).toBeGreaterThan(10_000);
  expect(Buffer.compare(repeatedRun.file, first.file)).toBe(0);
  expect(instantiate).toHaveBeenCalledTimes(1);
});

test("a failed instance is tried again", async () => {
  const command = await WasiCommand.compile(await readFile(flitePath()));
  vi.spyOn(webAssembly, "instantiate").mockRejectedValueOnce(new RangeError("out of memory"));
  const args = ["flite", "-voice", "kal16", "-t", "Your table is ready.", "-o", OUTPUT_FILE];
  await expect(command.run(args, MAX_BYTES)).rejects.toThrow("out of memory");
  expect((await command.run(args, MAX_BYTES)).exitCode).toBe(0);
});

test("an aborted run does not change the next one", async () => {
  const first = await speak("Your table is ready.");
  await expect(speak("Your table is ready.", "kal16", 1_000)).rejects.toThrow("more than 1000 bytes");
  const repeatedRun = await speak("Your table is ready.");

  expect(Buffer.compare(repeatedRun.file, first.file)).toBe(0);
});
