import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ON_NODE, onEach, useServer } from "../support/server.ts";
import type { CallView, ProblemView } from "../support/server-client.ts";
import { loudPart, toneShare } from "../support/server-sound.ts";
import { recognise } from "./recogniser.ts";
import { folder, run, withTools } from "./tools.ts";

const README = fileURLToPath(new URL("../../README.md", import.meta.url));

onEach([ON_NODE], (target) => {
  withTools("curl", ["curl"], () => {
    const server = useServer(target);
    const files = folder();

    test.for([
      ["as it is", []],
      ["in chunks", ["-H", "Transfer-Encoding: chunked"]],
      ["waiting for 100 Continue", ["-H", "Expect: 100-continue"]],
    ] as const)("sees the 413 of an upload that is too large, sent %s", async ([, options]) => {
      const { token } = await server.as("ada");
      const upload = join(files, "large");
      writeFileSync(upload, Buffer.alloc(64 << 20, " "));
      const answer = run(
        ...(["curl", "-sS", "-i", "-X", "POST", "--data-binary", `@${upload}`] as const),
        ...["-H", `Authorization: Bearer ${token}`, "-H", "Content-Type: application/json", ...options],
        `${server.base}/v1/calls`,
      );
      const [head = "", body = ""] = answer.replace(/^HTTP\/1\.1 100[\s\S]*?\r\n\r\n/, "").split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 413 /);
      expect(JSON.parse(body) as ProblemView).toMatchObject({ status: 413, code: "body_too_large", limit: 1 << 24 });
    });
  });

  withTools("the README's curl lines", ["curl", "ffmpeg", "pocketsphinx_batch"], () => {
    // As a new user has it: nothing is sped up.
    const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: undefined } });
    const files = folder();

    test("take a person from nothing to a spoken message and to an audio file that are heard", async () => {
      const first = shellBlock(/^# 1\. An instance/m);
      const [doing, looking] = cut(first, /^# 4\./m);
      const { token } = await server.as("reader");
      const shell = (script: string, ...more: string[]) =>
        bash(["set -eu", `TOKEN=${token}`, `URL=${server.base}`, ...more, script].join("\n"), files);

      const ids = await shell(`${doing.replace(/^export .*$/gm, "")}\necho "$INSTANCE $CALL"`);
      const [instance = "", call = ""] = ids.trim().split("\n").at(-1)!.split(" ");
      const client = await server.as("reader");
      expect((await client.waitForCall(call)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
      const told = await shell(looking, `CALL=${call}`);
      expect(told).toContain('"reason":"message_played"');
      const heard = recognise(join(files, "heard.wav"), [
        ["your", "our"],
        ["parcel", "partial", "castle"],
        ["arrives", "arrived", "rises"],
        ["tomorrow", "today", "monday"],
        ["at"],
        ["nine", "five", "noon"],
      ]);
      expect(heard).toBe("your parcel arrives tomorrow at nine");

      run(
        "ffmpeg",
        "-v",
        "error",
        "-f",
        "lavfi",
        "-i",
        "sine=frequency=1000:duration=2,volume=4",
        join(files, "message.mp3"),
      );
      const created = await shell(shellBlock(/FIXED_AUDIO/), `INSTANCE=${instance}`);
      const { id } = JSON.parse(created) as CallView;
      expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
      const sound = await client.heard(id);
      const { from, to } = loudPart(sound, 500);
      expect(Math.abs(((to - from) * 1000) / sound.sampleRate - 2000)).toBeLessThanOrEqual(20);
      expect(toneShare({ ...sound, samples: sound.samples.subarray(from, to) }, 1000)).toBeGreaterThanOrEqual(0.95);
    });

    test("are also what the server prints on its first start", async () => {
      const line = /^ *(curl .*)$/m.exec(server.output)?.[1] ?? "";
      expect(JSON.parse(await bash(`set -eu\n${line}`, files))).toMatchObject({ status: "CREATED" });
    });
  });
});

/** The README's block of shell lines in which this is found. */
function shellBlock(within: RegExp): string {
  const blocks = [...readFileSync(README, "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines!);
  const found = blocks.find((lines) => within.test(lines));
  if (found === undefined) throw new Error(`the README has no block of shell lines with ${within}`);
  return found;
}

function cut(text: string, at: RegExp): [before: string, after: string] {
  const place = text.search(at);
  if (place < 0) throw new Error(`nothing like ${at} in:\n${text}`);
  return [text.slice(0, place), text.slice(place)];
}

/** Runs shell lines in a folder and answers what they print. */
function bash(script: string, cwd: string): Promise<string> {
  const child = spawn("bash", ["-c", script], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const heard = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      heard[name] += text;
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(heard.stdout) : reject(new Error(`bash ended with ${code}:\n${heard.stderr}\n${script}`)),
    );
  });
}
