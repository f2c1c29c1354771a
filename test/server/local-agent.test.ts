import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ENGINE_FOLDER, missingEngine } from "../support/neural.ts";
import type { ChatReply, ChatRequest } from "../support/openai-chat.ts";
import { type OpenaiServer, openaiServer } from "../support/openai-server.ts";
import { type ProgramResult, type Runtime, run } from "../support/runtimes.ts";
import { describeEach, MAIN, ON_NODE, ON_OTHER_RUNTIMES } from "../support/server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { toneModels } from "../support/tone-models.ts";

let server: OpenaiServer | undefined;
afterEach(() => server?.close());

/** A model that repeats its input, and says goodbye after this many replies. */
function echoReplies(replyCount: number): (request: ChatRequest) => ChatReply {
  return ({ messages, format }) => {
    const texts = messages.map(({ content }) => content ?? "");
    if (format)
      return { text: JSON.stringify({ appointment_suits: /yes/.test(texts.at(-1)!), day: null, people: null }) };
    const calleeMessages = messages.filter(({ role, content }) => role === "user" && !content?.startsWith("["));
    const last = calleeMessages.at(-1)?.content;
    if (last === undefined) return { text: "Bom dia." };
    return { text: `${last}?`, ...(calleeMessages.length === replyCount && { calls: [{ name: "hang_up" }] }) };
  };
}

/** Runs the demo in a folder with the engine. */
async function runDemo(
  runtime: Runtime,
  models: string,
  replyCount: number,
  permissions: readonly string[] = ["--allow-run"],
): Promise<ProgramResult & { folder: string }> {
  server = await openaiServer({ understand: () => "", models: ["some-model"], answer: echoReplies(replyCount) });
  const folder = temporaryFolder("local-agent");
  symlinkSync(join(ENGINE_FOLDER, "node_modules"), join(folder, "node_modules"));
  const finished = await run(runtime, MAIN, {
    args: ["demo", "--agent", "--local"],
    env: {
      RINGPORT_SPEECH_MODELS: models,
      RINGPORT_AGENT_URL: server.baseUrl,
      RINGPORT_SIMULATOR_TIME_SCALE: "0.1",
    },
    flags: runtime.name === "deno" ? permissions : [],
    cwd: folder,
    timeoutMs: 55_000,
  });
  return { ...finished, folder };
}

/** The lines of the conversation. */
function conversation(stdout: string): string[] {
  return stdout.split("\n").flatMap((line) => /^ {2}(agent|callee) {2,}(.*)/.exec(line)?.slice(1).join(": ") ?? []);
}

describe.skipIf(missingEngine !== undefined)("an agent on this machine", () => {
  describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], ({ runtime }) => {
    test("hears the callee, replies to their words and states the result", async () => {
      const { code, stdout, stderr, folder } = await runDemo(runtime, toneModels(), 2);
      // Deno prints a deprecation notice.
      expect(stderr.replace(/^Deno\.serve: .*\s*/, "")).toBe("");
      expect(conversation(stdout)).toEqual([
        "agent: Bom dia.",
        "callee: yes that is right",
        "agent: yes that is right?",
        "callee: on monday please",
        "agent: on monday please?",
      ]);
      expect(stdout).toContain('result: {"appointment_suits":true,"day":null,"people":null}');
      expect(stdout).toMatch(/from each answer to the agent's first word: \d+, \d+ ms/);
      for (const part of [`some-model at ${server?.baseUrl}`, "sherpa-onnx-streaming-t-one-tones", "en-US-1"])
        expect(stdout).toContain(part);
      expect(readFileSync(join(folder, "ringport-demo.wav")).subarray(0, 4).toString()).toBe("RIFF");
      expect(code).toBe(0);
    });
  });

  describeEach(
    ON_OTHER_RUNTIMES.filter(({ runtime }) => runtime.name === "deno"),
    ({ runtime }) => {
      test("names the permission that it needs", async () => {
        const { code, stdout, stderr } = await runDemo(runtime, toneModels(), 1, []);
        expect(`${stdout}${stderr}`).toMatch(
          /✗ engine +cannot be started: Deno needs --allow-run=deno +→ start Deno with/,
        );
        expect(code).toBe(2);
      });
    },
  );

  describeEach([ON_NODE], ({ runtime }) => {
    test("speaks the language of its voice, and so does the callee", async () => {
      const models = toneModels();
      rmSync(join(models, "vits-tone-en_US-duo-low"), { recursive: true });
      const { code, stdout } = await runDemo(runtime, models, 1);
      // The tone voice leaves out letters with accents.
      expect(conversation(stdout)).toEqual(["agent: Bom dia.", "callee: sim est certo", "agent: sim est certo?"]);
      expect(server?.chats.at(-2)?.messages[0]?.content).toContain("Speak the language pt-BR");
      expect(code).toBe(0);
    });
  });
});
