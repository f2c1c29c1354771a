import { describe, expect, test } from "vitest";
import { COMMANDS, commandOf, loadAll } from "../../../adapters/cli/all-commands.ts";
import type { Command } from "../../../adapters/cli/command.ts";
import { parseCommandLine } from "../../../adapters/cli/command-line.ts";
import { detailText, optionFaultText, optionOf, WORDS_OF_FIELDS } from "../../../adapters/cli/request-fields.ts";

async function typedCommand(...words: string[]) {
  const command = (await commandOf(words)?.load()) as Command;
  return { command, line: parseCommandLine(command, words.slice(command.path.length)) };
}

describe("a fault in a request", () => {
  const batch = ["batch", "create", "people.csv", "--text", "Olá {{nome"];

  test.each([
    [[], "/message/tts/text", "has words", '--text is "Olá {{nome": has words'],
    [["--gap", "2h"], "/gapMs", "must be less", '--gap is "2h": must be less'],
    [["--zone", "Mars"], "/schedule/zone", 'must be "callee"', '--zone is "Mars": must be "callee"'],
    [["--days", "1-5"], "/schedule/hours", "must be earlier", '--days is "1-5": must be earlier'],
    [["--retry", "busy:9"], "/retry/times", "must be 3", '--retry is "busy:9": must be 3'],
    [
      ["--at", "+2h", "--until", "+1h"],
      "/schedule",
      "endAt must be later than startAt",
      '--until is "+1h": --until must be later than --at',
    ],
    [["--voice", "pt-BR-9"], "/message/tts/voiceId", "voice pt-BR-9 is missing", "--voice: voice pt-BR-9 is missing"],
    [[], "/message/tts/voiceId", "voice en-US-1 is missing", "--voice: voice en-US-1 is missing"],
    [[], "/message/sip/user", "is unknown", "/message/sip/user: is unknown"],
    [["--no-breaker"], "/breaker", "is wrong", "/breaker: is wrong"],
    [[], "", "choose one with phone_column", 'FILE is "people.csv": choose one with --phone-column'],
    [[], "", 'there is no column "startAt"', 'FILE is "people.csv": there is no column "startAt"'],
    [["--name", "n".repeat(101)], "/name", "is too long", `--name is "${"n".repeat(60)}…": is too long`],
  ])("by `batch create … %j` at %j names the option", async (options, pointer, detail, text) =>
    expect(optionFaultText({ pointer, detail }, await typedCommand(...batch, ...options))).toBe(text),
  );

  test("at a query parameter names the option", async () => {
    const fault = { pointer: "", parameter: "variable_columns", detail: "must be shorter" };
    expect(optionFaultText(fault, await typedCommand(...batch, "--variable-columns", "a=b"))).toBe(
      '--variable-columns is "a=b": must be shorter',
    );
  });

  test.each([
    [["call", "+12025550100", "--text", "🙂"], "/tts/text", '--text is "🙂": x'],
    [["call", "+12025550100", "--text", "Hi", "--from", "+1"], "/from", '--from is "+1": x'],
    [["call", "+12025550100", "--text", "Hi"], "/target/phoneNumber", '+NUMBER is "+12025550100": x'],
    [["instance", "create", "Front"], "/name", 'NAME is "Front": x'],
    [["instance", "update", "inst_1", "--name", "Front"], "/name", '--name is "Front": x'],
    [["instance", "create", "Front", "--from", "+1"], "/callerId/phoneNumber", '--from is "+1": x'],
    [["erase", "--phone", "12"], "--phone", '--phone is "12": x'],
    [["calls", "--batch", "b"], "/cursor", "/cursor: x"],
  ])("by %j at %s names the option or operand", async (words, pointer, text) =>
    expect(optionFaultText({ pointer, detail: "x" }, await typedCommand(...words))).toBe(text),
  );

  test("without a command names the field", () =>
    expect(optionFaultText({ pointer: "/tts/text", detail: "x" }, undefined)).toBe("/tts/text: x"));
});

test("a detail names options instead of JSON", () =>
  expect(detailText('2 of 3 targets are invalid; correct them, or start with {"skipInvalid": true}')).toBe(
    "2 of 3 targets are invalid; correct them, or start with --skip-invalid",
  ));

test("every option and operand in the table belongs to a command", async () => {
  const names = (await loadAll(COMMANDS)).flatMap(({ options, operands = [] }) =>
    [...options, ...operands].map(({ name }) => name),
  );
  const words = [...WORDS_OF_FIELDS.values()].flatMap((text) => text.split(" "));
  expect(words.filter((word) => !names.includes(word))).toEqual([]);
  expect(optionOf("/message/agent/instructions/0")).toBe("--agent-instructions");
});
