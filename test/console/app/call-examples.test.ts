import { createContext, runInContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  curlExample,
  literal,
  shellQuote,
  typeScriptExample,
} from "../../../adapters/console/app/pages/new-call/call-examples.ts";
import { type CallForm, EMPTY_FORM } from "../../../adapters/console/app/pages/new-call/call-form.ts";
import { chosenAudio } from "../../../adapters/console/app/pages/new-call/chosen-audio.ts";
import { fuzz } from "../../support/fuzz.ts";

const URL = "http://127.0.0.1:8080";
const FORM: CallForm = {
  ...EMPTY_FORM,
  instanceId: "inst_1",
  phoneNumber: "+12025550100",
  text: "It's me",
  voiceId: "en-US-1",
};

describe("the curl example", () => {
  it("sends the body of the form", () => {
    expect(curlExample(FORM, URL)).toBe(`curl -sS 'http://127.0.0.1:8080/v1/calls' \\
  -H "Authorization: Bearer $RINGPORT_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
  "instanceId": "inst_1",
  "type": "FIXED_TTS",
  "target": {
    "phoneNumber": "+12025550100"
  },
  "tts": {
    "text": "It'\\''s me",
    "voiceId": "en-US-1"
  }
}'`);
  });

  it("reads an audio file, whose name stays quoted in the shell", () => {
    const audio = chosenAudio("it's; rm -rf.mp3", new Uint8Array(1));
    const example = curlExample({ ...FORM, type: "FIXED_AUDIO", audio, reference: "a\\b" }, URL);
    expect(example).toContain(`"audioBase64": "' > call.json\n`);
    expect(example).toContain(`base64 < 'it'\\''s; rm -rf.mp3' | tr -d '\\n' >> call.json\n`);
    expect(example).toContain(`printf %s '"\n  },\n  "reference": "a\\\\b"\n}' >> call.json\n`);
    expect(example).toContain("-d @call.json");
  });
});

describe("the TypeScript example", () => {
  it("places the call and waits for its end", () => {
    expect(typeScriptExample(FORM, URL)).toContain(`const call = await ringport.calls.create({
  instanceId: "inst_1",
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: "It's me", voiceId: "en-US-1" },
});
const { status, outcome } = await ringport.waitForCall(call.id);`);
  });

  it("reads an audio file, and carries a stream's audio", () => {
    const file = typeScriptExample({ ...FORM, type: "FIXED_AUDIO" }, URL);
    expect(file).toContain('import { readFile } from "node:fs/promises";');
    expect(file).toContain('audioBase64: (await readFile("message.mp3")).toString("base64")');
    expect(typeScriptExample({ ...FORM, type: "DYNAMIC_STREAM" }, URL)).toContain("stream.write(frame)");
  });
});

fuzz(
  "a quoted text is one shell word with the same value",
  fc.property(fc.string(), (text) => {
    const word = shellQuote(text);
    expect(word).toMatch(/^'[^']*'(?:\\''[^']*')*$/);
    expect(word.replace(/'([^']*)'|\\(')/g, "$1$2")).toBe(text);
  }),
);

const context = createContext({});
fuzz(
  "a literal evaluates to its value",
  fc.property(fc.json({ maxDepth: 5 }), (json) => {
    const text = runInContext(`JSON.stringify(${literal(JSON.parse(json))})`, context) as string;
    expect(JSON.parse(text)).toEqual(JSON.parse(json));
  }),
);
